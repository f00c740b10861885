"""What happens to jobs, as a stream that anyone may read from where they left off.

It lies in the first shard and is capped. Whoever changes a job announces it, and whoever finds that
unsaid says it again: each version of a job is announced once. Listeners of one process share one
look at the stream's end, so that many of them cost no more than one.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from skitter.frontier.live_jobs import JobRecord
    from skitter.frontier.shards import Shards

EventKind = Literal["submitted", "paused", "resumed", "reprioritised", "ended"]

KEPT = 100_000
AT_ONCE = 200
LOOK_S = 0.2
NEWEST = "$"
KINDS: dict[str, EventKind] = {
    "": "submitted",
    "pause": "paused",
    "resume": "resumed",
    "reprioritise": "reprioritised",
    "end": "ended",
}
FIRST = "0-0"


@dataclass(frozen=True, kw_only=True)
class JobEvent:
    """Something that happened to a job. `id` is its place in the stream."""

    id: str
    kind: EventKind
    job: str
    spider: str
    project: str
    version: int
    at: datetime
    outcome: str = ""
    figures: dict[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"at": self.at.isoformat()}


class JobEvents:
    """The stream of events."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards
        self._key = f"{shards.prefixes[0]}events"
        self._end = _End(self)

    async def announce(self, record: JobRecord, *, figures: dict[str, int] | None = None) -> str:
        """Say what became of a job; the event's id, or nothing if this version was announced."""
        event = {
            "kind": KINDS[record.verb],
            "job": record.job.id,
            "spider": record.job.spider,
            "project": record.job.project,
            "version": record.version,
            "outcome": record.outcome,
            "figures": figures or {},
        }
        text = json.dumps(event)
        reply = await self._shards.run(
            0, "announce", record.no, record.version, text, KEPT, clocked=False
        )
        return str(reply.decode())

    async def last_id(self) -> str:
        """The id of the newest event."""
        found = await self._shards.command("XREVRANGE", self._key, "+", "-", "COUNT", 1)
        return str(found[0][0].decode()) if found else FIRST

    async def read(self, after: str, *, limit: int = AT_ONCE) -> list[JobEvent]:
        """Some events that came after one, oldest first. What the cap took is passed over."""
        found = await self._shards.command("XRANGE", self._key, f"({after}", "+", "COUNT", limit)
        return [_event(row) for row in found]

    async def listen(
        self, *, after: str = NEWEST, job: str | None = None
    ) -> AsyncGenerator[JobEvent, None]:
        """Events as they come, of one job or of all, from the newest on or after one by its id."""
        place = await self.last_id() if after == NEWEST else after
        while True:
            found = await self.read(place)
            for event in found:
                if job is None or event.job == job:
                    yield event
            if found:
                place = found[-1].id
            else:
                await self._end.moved(place)


class _End:
    """One look at the end of the stream at a time, whoever waits for it."""

    def __init__(self, events: JobEvents) -> None:
        self._events = events
        self._looking: asyncio.Task[str] | None = None
        self._waiting = 0

    async def moved(self, place: str) -> None:
        """Return when there may be something after a place."""
        self._waiting += 1
        try:
            while True:
                if self._looking is None or self._looking.done():
                    self._looking = asyncio.create_task(self._look())
                if await asyncio.shield(self._looking) != place:
                    return
        finally:
            self._waiting -= 1
            if not self._waiting and self._looking:
                self._looking.cancel()  # nobody is left to close it before the frontier is closed

    async def _look(self) -> str:
        await asyncio.sleep(LOOK_S)
        return await self._events.last_id()


def _event(row: list[Any]) -> JobEvent:
    event_id, pairs = row[0].decode(), row[1]
    fields = pairs if isinstance(pairs, dict) else dict(zip(pairs[::2], pairs[1::2], strict=True))
    said = json.loads(fields[b"e"])
    at = datetime.fromtimestamp(int(event_id.partition("-")[0]) / 1000, UTC)
    return JobEvent(id=event_id, at=at, **said)
