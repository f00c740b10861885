"""Starts racers together and gathers what they saw."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.servers.programs import die_with_parent

if TYPE_CHECKING:
    from collections.abc import Awaitable

ROOT = Path(__file__).parents[3]
# A racer prints its whole history on one line.
MOST_BYTES = 1 << 26


async def race(
    processes: int, task: dict[str, Any], *, meanwhile: Awaitable[Any] | None = None
) -> list[dict[str, Any]]:
    """Run so many processes on one task; all start when all are there."""
    racers = [await _start(task | {"worker": f"w{n}"}) for n in range(processes)]
    try:
        for racer in racers:
            await _line(racer)
        for racer in racers:
            assert racer.stdin is not None
            racer.stdin.write(b"go\n")
        if meanwhile is not None:
            await meanwhile
        results = [json.loads(await _line(racer)) for racer in racers]
        assert [await racer.wait() for racer in racers] == [0] * processes
        return results
    finally:
        for racer in racers:
            if racer.returncode is None:
                racer.kill()
                await racer.wait()


async def _start(task: dict[str, Any]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.integration.frontier.racer",
        json.dumps(task),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        limit=MOST_BYTES,
        preexec_fn=die_with_parent,
    )


async def _line(racer: asyncio.subprocess.Process) -> bytes:
    assert racer.stdout is not None
    line = await racer.stdout.readline()
    assert line, "a racer ended before its time; its error is above"
    return line
