"""`skitter doctor`: what is well, what is not and how to mend it, and the code it ends with."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skitter.cli.check_machine import check_disk, check_files, check_python

if TYPE_CHECKING:
    from tests.integration.cli.commands import Commands, Ran

PROJECTS = Path(__file__).parents[2] / "projects"


def verdicts(ran: Ran) -> dict[str, Any]:
    return {finding["subject"]: finding for finding in ran.json}


def test_all_that_is_well(commands: Commands) -> None:
    commands.flags |= {"fetch.user_agent": "Test (test@example.org)", "politeness.delay_s": "1"}
    ran = commands.run("doctor", "--json")
    assert ran.code == 0
    found = verdicts(ran)
    expected = {"settings", "python", "scrapy", "disk", "files", "machine", "server", "eviction"}
    expected |= {"persistence", "store", "items", "spiders", "user agent", "pace"}
    assert expected <= set(found)
    assert found["user agent"]["verdict"] == "ok"
    text = commands.run("doctor").stdout
    assert max(map(len, text.splitlines())) <= 80


def test_what_is_away_is_a_problem_with_a_way_out(commands: Commands) -> None:
    commands.flags |= {"redis.url": "redis://127.0.0.1:1", "items.sink": "sqlite:/proc/no.db"}
    commands.flags |= {"redis.patience_s": "0.1", "store.url": "sqlite:/proc/no.db"}
    ran = commands.run("doctor", "--json")
    assert ran.code == 1
    found = verdicts(ran)
    assert found["server"]["verdict"] == "problem"
    assert "redis.url" in found["server"]["fix"]
    assert found["items"]["verdict"] == "problem"
    assert found["items"]["fix"]
    assert found["store"]["verdict"] == "problem"


def test_bad_settings_are_told_with_the_rest(commands: Commands) -> None:
    Path("skitter.yaml").write_text("frontier: {leese_s: 5}\n")
    ran = commands.run("doctor", "--json")
    assert ran.code == 1
    found = verdicts(ran)
    assert "did you mean frontier.lease_s" in found["settings"]["told"]
    assert found["python"]["verdict"] == "ok"


def test_manners_are_warned_about(commands: Commands) -> None:
    commands.flags["politeness.robots"] = "false"
    found = verdicts(commands.run("doctor", "--json"))
    assert [found[name]["verdict"] for name in ("user agent", "robots.txt", "pace")] == [
        "warning"
    ] * 3


def test_a_spider_that_does_not_load_is_a_problem(commands: Commands, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    shutil.copytree(PROJECTS / "bookshop", folder)
    (folder / "bookshop" / "spiders" / "broken_one.py").write_text("import no_such_module\n")
    ran = commands.process("doctor", "--json", cwd=folder)
    assert ran.code == 1, ran.stderr
    told = [finding["told"] for finding in ran.json if finding["subject"] == "spiders"]
    assert "catalogue" in told[0]
    assert "broken_one does not load" in told[1]
    assert "no_such_module" in told[1]


def test_the_machine(tmp_path: Path) -> None:
    assert check_python((3, 10)).verdict == "problem"
    assert check_disk(tmp_path / "not" / "there").verdict in ("ok", "warning")
    assert check_files(256, 64).verdict == "warning"
    assert check_files(4096, 64).verdict == "ok"
    assert check_files(4096, 4000).verdict == "warning"
    assert check_files(None, 64).verdict == "note"
