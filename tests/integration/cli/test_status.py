"""`skitter status`: the figures are the frontier's, on the screen, in lines and as JSON."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
from typing import TYPE_CHECKING

import pytest

from tests.integration.cli.commands import SKITTER
from tests.wait import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from skitter.frontier import Frontier
    from tests.integration.cli.commands import Commands


def work(commands: Commands) -> None:
    """Two jobs: one with a dead letter, one with three requests of which one is leased."""
    commands.bury("http://a.lab/1")
    commands.queue("http://b.lab/1", "http://b.lab/2", "http://c.lab/1", job="quotes")

    async def lease(frontier: Frontier) -> None:
        lane = (await frontier.jobs.record("quotes")).job.lane
        assert len((await frontier.lease([lane], count=1)).leases) == 1
        await frontier.workers.beat(
            "w1", {"state": "running", "pages_per_s": 2.5, "memory": 1 << 20}, ttl_ms=60_000
        )

    commands.ask(lease)


def test_the_figures_are_the_frontiers(commands: Commands) -> None:
    work(commands)
    told = commands.run("status", "--json").json
    assert {name: told[name] for name in ("pending", "queued", "leased", "delayed")} == {
        "pending": 3,
        "queued": 2,
        "leased": 1,
        "delayed": 0,
    }
    assert (told["errors"], told["dead_letters"], told["live_jobs"]) == (1, 1, 2)
    assert told["hosts"] == 2
    assert told["pages_per_s"] == 2.5
    assert {job["id"]: job["pending"] for job in told["jobs"]} == {"books": 0, "quotes": 3}


def test_the_screen_has_it_all_in_80_columns(commands: Commands) -> None:
    work(commands)
    text = commands.run("status").stdout
    for word in ("URLs pending", "requests queued", "leased", "delayed", "visited", "items",
                 "errors", "dead letters", "workers", "hosts", "quotes", "w1"):  # fmt: skip
        assert word in text, word
    assert max(map(len, text.splitlines())) <= 80


def test_debug_tells_of_the_server(commands: Commands) -> None:
    work(commands)
    told = commands.run("status", "--debug", "--json").json["debug"]
    assert told["round_trip_ms"] > 0
    assert told["shards"][0]["dead letters"] == 1
    assert told["server"]["maxmemory_policy"] == "noeviction"
    assert "round trip" in commands.run("status", "--debug").stdout


def test_watching_prints_lines_where_there_is_no_terminal(
    commands: Commands, tmp_path: Path
) -> None:
    work(commands)
    for flags in ([], ["--json"]):
        out = tmp_path / f"out{len(flags)}"
        with out.open("wb") as file:
            process = subprocess.Popen(
                [SKITTER, "status", "--watch", "--every", "0.2", *flags, *commands.sets],
                stdout=file,
            )
        try:
            wait_until(lambda out=out: out.read_text().count("\n") >= 2, timeout_s=30)  # type: ignore[misc]
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0
        finally:
            process.kill()
        first = out.read_text().splitlines()[0]
        assert json.loads(first)["pending"] == 3 if flags else "3 URLs pending" in first


@pytest.mark.parametrize("colour", [True, False])
def test_a_terminal_is_drawn_on(commands: Commands, colour: bool) -> None:
    work(commands)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    env = os.environ | {"TERM": "xterm-256color"}
    env = {name: value for name, value in env.items() if name not in ("NO_COLOR", "COLUMNS")}
    process = subprocess.Popen(
        [SKITTER, "status", "--watch", "--every", "0.2", *commands.sets],
        stdin=theirs,
        stdout=theirs,
        env=env if colour else env | {"NO_COLOR": "1"},
    )
    seen = b""

    def drawn() -> bool:
        nonlocal seen
        if select.select([ours], [], [], 0)[0]:
            seen += os.read(ours, 65536)
        return b"w1" in seen

    try:
        wait_until(drawn, timeout_s=60, what="the worker is on the screen")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    finally:
        process.kill()
        os.close(theirs)
        os.close(ours)
    assert b"URLs pending" in seen
    assert b"\x1b[?1049h" in seen  # a screen of its own: what was there comes back
    assert (re.search(rb"\x1b\[[0-9;]*3[0-7]m", seen) is not None) is colour
