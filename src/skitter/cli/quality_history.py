"""What the store knows of a job whose items are checked: how it was submitted, and good runs."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skitter.frontier import lane_of
from skitter.jobs.rows import read_job
from skitter.orchestrator.run_history import past_runs
from skitter.store import Store

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from skitter.jobs.view import JobView
    from skitter.validate.gates import RunFigures

SQLITE = "sqlite:"


@dataclass(frozen=True)
class Known:
    """A job's gates and arguments, and figures of the last good runs like it, the latest last."""

    gates: dict[str, Any] | str = ""
    args: dict[str, str] = field(default_factory=dict)
    past: list[RunFigures] = field(default_factory=list)


def known_of(url: str, job: str, *, spider: str, args: dict[str, str]) -> Known:
    """What the store has; where there is none yet, to look makes none.

    spider and args tell which runs are like it where the store has the items' job no more.
    """
    if url.startswith(SQLITE) and not Path(url.removeprefix(SQLITE)).exists():
        return Known(args=args)

    def read(found: Connection) -> Known:
        view = read_job(found, job)
        if view is None:
            return Known(args=args, past=_past(found, job, lane_of(spider, args), None))
        gates = view.submission.gates if view.submission else ""
        given = view.args | args
        return Known(gates, given, _past(found, job, lane_of(view.spider, given), view))

    async def ask() -> Known:
        async with await Store.open(url) as store:
            return await store.read(read)

    return asyncio.run(ask())


def _past(found: Connection, job: str, lane: str, view: JobView | None) -> list[RunFigures]:
    """Those before it; before now, if it has not ended."""
    ended_at = view.ended_at if view else None
    until_s = ended_at.timestamp() if ended_at else time.time()
    return past_runs(found, lane, but=job, until_ms=int(until_s * 1000))
