"""What commands change is in the audit log: who, what, and how it ended."""

from __future__ import annotations

import getpass
import json
import socket
from typing import TYPE_CHECKING, Any

import pytest

from skitter.cli.main import app
from skitter.cli.recording import UNRECORDED
from skitter.cli.reference import commands as all_commands
from skitter.frontier import Caretaker
from skitter.service_errors import StoreError
from skitter.sinks import Item
from skitter.sinks.quarantine import Held, Quarantine

if TYPE_CHECKING:
    from pathlib import Path

    from skitter.frontier import Frontier
    from tests.integration.cli.commands import Commands

CHANGES = """
jobs submit link http://a.lab/1 --id one
jobs pause one
jobs resume one
jobs reprioritise one 5
jobs clone one
jobs stop one
jobs delete one
push http://a.lab/2 --job two --spider link
hosts set a.lab --delay 2
hosts block a.lab
hosts unblock a.lab
hosts clear a.lab
jobs retry books
dlq edit {letter} --url http://b.lab/9
dlq replay --job books
dlq discard --all --yes
schedule add daily @daily link
schedule pause daily
schedule resume daily
schedule run daily
schedule delete daily
quarantine release aa1
quarantine discard ab2
keys create nightly
keys revoke {key}
alerts test
"""
ELSEWHERE = {"crawl", "finalise", "restore", "orchestrator", "settings", "reference"}
"""Tested below or in test_crawl, or not a command that is loaded by name."""


@pytest.fixture(autouse=True)
def own_store(commands: Commands, tmp_path: Path) -> None:
    commands.flags["store.url"] = f"sqlite:{tmp_path / 'skitter.db'}"
    commands.flags["items.sink"] = f"sqlite:{tmp_path / 'items.db'}"


@pytest.fixture
def held(tmp_path: Path) -> None:
    def item(name: str) -> Item:
        return Item(name, "shop", "ecommerce", "http://a.lab/", "Product", {"name": name}, "w1")

    Quarantine(tmp_path / "items.db").put([Held(item("aa1"), "old"), Held(item("ab2"), "bad")])


def lines(commands: Commands, *options: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = commands.run("audit", "--json", *options).json["entries"]
    return found


@pytest.mark.usefixtures("held")
def test_every_changing_command_writes_a_line(commands: Commands) -> None:
    done: list[str] = []
    for template in CHANGES.split("\n")[1:-1]:
        text = _prepared(commands, template)
        ran = commands.run(*text.split())
        assert ran.code == 0, (text, ran.error, ran.stderr)
        done.append(f"skitter {text.split(' --')[0]}")
        newest = lines(commands, "-n", "1")[0]
        assert newest["action"] == done[-1]
        assert (newest["key_id"], newest["name"], newest["role"], newest["status"]) == (
            "cli", getpass.getuser(), "admin", 200,
        )  # fmt: skip
        assert newest["address"] == socket.gethostname()
    assert [line["action"] for line in reversed(lines(commands, "-n", "100"))] == done


def _prepared(commands: Commands, text: str) -> str:
    """A command that has something to do, with the ids that it needs."""
    if text.startswith(("jobs retry", "dlq")):
        verb = text.split()[1]
        commands.bury(f"http://b.lab/{verb}/1", f"http://b.lab/{verb}/2")
    if text.startswith("jobs delete"):
        commands.ask(sweep)
    if "{letter}" in text:
        text = text.format(letter=commands.run("dlq", "list", "--json").json["letters"][0]["id"])
    if "{key}" in text:
        text = text.format(key=commands.run("keys", "list", "--json").json[0]["id"])
    return text


async def sweep(frontier: Frontier) -> None:
    await Caretaker(frontier).tend()


def test_every_command_is_known_to_change_something_or_not() -> None:
    names = {name for name, _ in all_commands(app)}
    changing = {
        " ".join(line.split()[: 2 if " ".join(line.split()[:2]) in names else 1])
        for line in CHANGES.splitlines()
        if line
    }
    assert not changing & UNRECORDED
    assert names == changing | UNRECORDED | ELSEWHERE


def test_commands_that_only_look_write_none(commands: Commands) -> None:
    commands.bury("http://a.lab/1")
    for words in ("jobs list", "dlq list", "hosts list", "hosts show a.lab", "schedule list",
                  "keys list", "status", "alerts list", "audit"):  # fmt: skip
        assert commands.run(*words.split(), "--json").code == 0
    assert lines(commands) == []


def test_what_was_refused_and_what_options_said_is_there_without_secrets(
    commands: Commands,
) -> None:
    ran = commands.run("jobs", "pause", "nobody")
    assert ran.error is not None
    assert commands.run("finalise", "nobody", "--from", "jsonl:nowhere").error is not None
    commands.run(
        "jobs", "submit", "link", "http://u:hunter2@a.lab/", "--id", "x",
        "-a", "password=hunter2", "--max-pages", "7",
    )  # fmt: skip
    commands.run("dlq", "replay", "--job", "x", "--dry-run")
    replayed, submitted, finalised, paused = lines(commands)
    assert (finalised["action"], finalised["status"]) == ("skitter finalise nobody", 400)
    assert (paused["status"], "nobody" in paused["detail"]) == (400, True)
    assert submitted["action"] == "skitter jobs submit link http://u:***@a.lab/"
    detail = json.loads(submitted["detail"])
    assert (detail["max_pages"], detail["args"]) == (7, ["password=***"])
    assert "hunter2" not in submitted["detail"]
    # It came to its end, and said that there was nothing to do.
    assert (replayed["status"], json.loads(replayed["detail"])["exit_code"]) == (200, 1)


def test_what_cannot_be_written_down_is_not_done(commands: Commands) -> None:
    commands.queue("http://a.lab/1")
    commands.flags["store.url"] = "sqlite:/proc/nowhere/skitter.db"
    assert isinstance(commands.run("hosts", "block", "a.lab").error, StoreError)
    assert commands.run("hosts", "show", "a.lab", "--json").json["blocked"] is False


def test_a_restore_is_in_the_log_of_the_store_that_it_put_back(
    commands: Commands, tmp_path: Path
) -> None:
    commands.run("schedule", "add", "a", "@daily", "shop")
    copy = str(tmp_path / "copy")
    commands.run("backup", copy)
    commands.run("schedule", "pause", "a")
    assert commands.run("restore", copy, "--force").code == 0
    restored, added = lines(commands)
    assert (restored["action"], restored["status"]) == (f"skitter restore {copy}", 200)
    assert (added["action"], added["status"]) == ("skitter schedule add a @daily shop", 200)


def test_the_log_is_paged(commands: Commands) -> None:
    for host in ("a.lab", "b.lab", "c.lab"):
        commands.run("hosts", "block", host)
    page = commands.run("audit", "-n", "2", "--json").json
    rest = commands.run("audit", "--after", str(page["next"]), "--json").json
    actions = [line["action"] for line in page["entries"] + rest["entries"]]
    assert actions == [f"skitter hosts block {host}" for host in ("c.lab", "b.lab", "a.lab")]
    assert rest["next"] is None
    assert lines(commands, "--key", "other") == []
    table = commands.run("audit", "--since", "1h").stdout
    assert "skitter hosts" in table
    assert max(map(len, table.splitlines())) <= 80
