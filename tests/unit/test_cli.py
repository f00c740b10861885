from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from skitter import __version__
from skitter.cli.main import app
from skitter.settings.listing import render_page
from skitter.settings.sources import known_names

SKITTER = Path(sys.executable).parent / "skitter"


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def run(*args: str) -> str:
    result = CliRunner().invoke(app, args, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_version() -> None:
    assert run("--version") == f"skitter {__version__}\n"


def test_settings_lists_all_for_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKITTER_REDIS__URL", "redis://:hunter2@h")
    rows = json.loads(run("settings", "--json", "--set", "frontier.lease_s=5"))
    assert [row["name"] for row in rows] == known_names()
    by_name = {row["name"]: row for row in rows}
    lease = by_name["frontier.lease_s"]
    assert (lease["value"], lease["source"], lease["default"]) == (5, "flag", 30)
    assert lease["doc"]
    assert by_name["redis.url"]["value"] == "redis://:***@h"
    assert by_name["redis.url"]["source"] == "SKITTER_REDIS__URL"
    assert by_name["retry.jitter"]["source"] == "default"


def test_settings_lists_all_for_people() -> None:
    text = run("settings", "--set", "frontier.lease_s=5")
    assert all(f"{name} = " in text for name in known_names())
    assert "frontier.lease_s = 5  (flag; default 30)" in text


def test_settings_page() -> None:
    assert run("settings", "--markdown") == render_page()


def test_lab_is_mounted() -> None:
    assert "serve" in run("lab", "--help")


def test_known_errors_are_told_without_a_traceback() -> None:
    done = subprocess.run(
        [SKITTER, "settings", "--set", "frontier.leese_s=5"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert "did you mean frontier.lease_s?" in done.stderr
    assert "Traceback" not in done.stderr
