"""`skitter schedule`, `alerts`, `orchestrator`, `backup` and `restore`, as people call them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from skitter.cli.main import app
from skitter.errors import SettingsError
from skitter.orchestrator.errors import BadSchedule, ScheduleStands, UnknownSchedule

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.servers import ServerProcess

pytestmark = pytest.mark.integration


@pytest.fixture
def server_url(valkey_server: ServerProcess) -> str:
    return valkey_server.url


@pytest.fixture
def call(server_url: str, namespace: str, tmp_path: Path) -> Callable[..., Any]:
    """Run a command on the test's server and store; its JSON, or its text with `text`."""
    sets = [
        f"redis.url={server_url}",
        f"redis.namespace={namespace}",
        f"store.url=sqlite:{tmp_path}/skitter.db",
        f"items.sink=sqlite:{tmp_path}/items.db",
    ]
    flags = [word for pair in sets for word in ("--set", pair)]

    def run(*words: str, text: bool = False, code: int = 0) -> Any:
        form = [] if text else ["--json"]
        done = CliRunner().invoke(app, [*words, *flags, *form])
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == code, done.output
        return done.stdout if text else json.loads(done.stdout)

    return run


def test_a_schedule_from_its_beginning_to_its_end(call: Callable[..., Any]) -> None:
    added = call(
        "schedule", "add", "prices", "30 2 * * *", "shop", "-a", "country=fr", "--seed",
        "https://a.test/", "--job", '{"max_pages": 10}', "--timezone", "Europe/Paris",
    )  # fmt: skip
    assert added["job"] == {
        "max_pages": 10,
        "spider": "shop",
        "args": {"country": "fr"},
        "seeds": ["https://a.test/"],
    }
    assert len(added["next_ticks"]) == 5
    assert (
        call("schedule", "ticks", "prices", "-n", "7")
        == call("schedule", "ticks", "prices", "-n", "9")[:7]
    )
    assert "CE" in call("schedule", "ticks", "prices", text=True)  # CET or CEST
    [ran] = call("schedule", "run", "prices")
    assert (ran["state"], ran["manual"]) == ("submitted", True)
    assert call("schedule", "history", "prices") == [ran]
    assert call("schedule", "pause", "prices")["paused"] is True
    assert "paused" in call("schedule", "list", text=True)
    assert call("schedule", "resume", "prices")["paused"] is False
    assert [one["name"] for one in call("schedule", "list")] == ["prices"]
    assert "30 2 * * *" in call("schedule", "show", "prices", text=True)
    assert call("schedule", "delete", "prices") == {"deleted": "prices"}
    assert call("schedule", "list") == []


def test_what_is_wrong_is_said(call: Callable[..., Any]) -> None:
    call("schedule", "add", "a", "@daily", "shop")
    with pytest.raises(ScheduleStands):
        call("schedule", "add", "a", "@daily", "shop")
    with pytest.raises(BadSchedule, match="overlap is one of"):
        call("schedule", "add", "b", "@daily", "shop", "--overlap", "often")
    with pytest.raises(BadSchedule, match="no time zone"):
        call("schedule", "add", "b", "@daily", "shop", "--timezone", "Mars/Olympus")
    with pytest.raises(UnknownSchedule):
        call("schedule", "show", "b")
    for bad in (("-a", "x"), ("--job", "{"), ("--job", "[]")):
        with pytest.raises(SettingsError):
            call("schedule", "add", "b", "@daily", "shop", *bad)


def test_alerts_are_listed_and_tried(call: Callable[..., Any]) -> None:
    rules = call("alerts", "rules", "--set", "alerts.thresholds=backlog=7")
    assert {rule["name"]: rule["above"] for rule in rules}["backlog"] == 7
    assert "no-progress" in call("alerts", "rules", text=True)
    assert call("alerts", "list") == []
    assert "Nothing is wrong" in call("alerts", "list", text=True)
    assert "no webhooks" in call("alerts", "test", text=True)
    nobody = "alerts.webhooks=http://127.0.0.1:9/"
    answers = call("alerts", "test", "--set", nobody, code=1)
    assert "ok" not in answers.values()


def test_nobody_orchestrates(call: Callable[..., Any]) -> None:
    assert call("orchestrator", "status") == []
    assert "No orchestrator runs" in call("orchestrator", "status", text=True)


def test_a_backup_and_the_way_back(call: Callable[..., Any], tmp_path: Path) -> None:
    call("schedule", "add", "a", "@daily", "shop")
    made = call("backup", str(tmp_path / "copy"))
    assert made["keys"] > 0
    call("schedule", "delete", "a", text=True)
    assert "keys" in call("restore", str(tmp_path / "copy"), text=True)
    assert [one["name"] for one in call("schedule", "list")] == ["a"]
