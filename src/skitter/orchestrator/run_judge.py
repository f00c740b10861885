"""A job's run as a whole, held against its gates: its items against bounds and past good runs.

The gates are the job's, its recipe's and its spider's. What the spider and the recipe ask is in the
job's record: the first worker that ran it said so. Of a job that no worker has met it is known
where the class can be loaded. A good run's figures are kept, for later ones.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from skitter.errors import BadGates
from skitter.orchestrator.job_items import stored_of
from skitter.orchestrator.run_history import keep_run, past_runs
from skitter.validate.gates import Declared, Gates, RunFigures, figures_of, judge

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skitter.frontier.live_jobs import JobRecord
    from skitter.store import Store

    Spiders = Callable[[], Mapping[str, type[Any]]]

JUDGED = ("finished", "limit reached")


class RunJudge:
    """Judges runs that came to their own end; those that were cut short have nothing to pass."""

    def __init__(self, store: Store, *, sinks: Sequence[str], spiders: Spiders) -> None:
        self._store = store
        self._sinks = sinks
        self._spiders = spiders

    async def failures(self, record: JobRecord) -> list[dict[str, Any]]:
        """What a run does not pass; nothing where nothing is asked."""
        if record.outcome not in JUDGED:
            return []
        try:
            gates = await asyncio.to_thread(self._gates, record)
        except BadGates as error:
            return [{"gate": "gates", "reason": str(error), "measured": None, "bound": 0}]
        if gates is None:
            return []
        figures = await asyncio.to_thread(self._figures, record, gates)
        past = await self._store.read(
            lambda found: past_runs(
                found,
                record.job.lane,
                but=record.job.id,
                until_ms=record.ended_ms,
                most=gates.past_runs,
            )
        )
        failures = judge(gates, figures, past)
        if not failures:
            await self._store.write(lambda found: keep_run(found, record, figures))
        return [failure.to_json() for failure in failures]

    def _gates(self, record: JobRecord) -> Gates | None:
        job = record.job
        if record.declared:
            return Gates.asked(Declared.from_json(record.declared), job.gates or None)
        kind = self._spiders().get(job.spider)
        return Gates.of(kind, {"gates": job.gates or None, "args": job.args})

    def _figures(self, record: JobRecord, gates: Gates) -> RunFigures:
        sinks = record.job.sinks or self._sinks
        held = _quarantined(sinks, record.job.id) if gates.most_quarantined is not None else 0
        items = (found.item.data for found in stored_of(sinks[0], record.job.id))
        return figures_of(items, gates=gates, quarantined=held)


def _quarantined(sinks: Sequence[str], job: str) -> int:
    from skitter.sinks.quarantine import Quarantine  # noqa: PLC0415 - seldom asked for
    from skitter.spiders.checking import quarantine_path  # noqa: PLC0415 - it loads Scrapy

    path = quarantine_path(sinks)
    return sum(1 for _ in Quarantine(path).entries(job=job)) if path.exists() else 0
