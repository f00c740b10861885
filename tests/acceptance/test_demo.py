"""`skitter demo`: all that the demo sites have is found, and the prices that changed are known."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.integration.cli.commands import SKITTER

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(600)]


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [SKITTER, "demo", *args], cwd=folder, capture_output=True, text=True, check=False
    )


def test_the_demo_finds_everything_and_what_changed(tmp_path: Path) -> None:
    done = run(tmp_path, "--products", "20", "--tickers", "15", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["found"] == {"Product": 40, "Quote": 15}
    assert told["files"] == {"products.csv": 40, "quotes.csv": 15}
    assert told["price_changes"] > 0
    assert told["polite"]
    assert (told["buried"], told["settled"]) == (0, told["accepted"])
    lines = (tmp_path / "skitter-demo" / "products.csv").read_text().splitlines()
    assert len(lines) == 41
    assert "round over" in done.stderr


def test_a_folder_that_is_not_its_own_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "skitter-demo").mkdir()
    (tmp_path / "skitter-demo" / "mine.txt").write_text("mine")
    done = run(tmp_path)
    assert done.returncode == 1
    assert "not made by a demo" in done.stderr
    assert (tmp_path / "skitter-demo" / "mine.txt").read_text() == "mine"
