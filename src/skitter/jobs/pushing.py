"""Seeds on their way into the frontier: in batches, counted, with the job held open meanwhile.

A batch leaves when it is full, when its source pauses, or when its first seed has waited a second.
Whoever cancels a push gets counts that are right: a batch that was sent is waited for.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog

from skitter.errors import FrontierError, JobEnded, ServerUnavailable, UnknownJob
from skitter.frontier import Frontier, Job
from skitter.masking import mask_text
from skitter.service_errors import JobDiffers, NoJobToPushTo

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable

    from skitter.jobs.seeds import Seed

log = structlog.get_logger(__name__)

HOLD_MS = 60_000
PUSHING = "push:"
BATCH_BYTES = 4 << 20
WAIT_S = 1.0
EXAMPLES = 3
MOST_REASONS = 50
OTHER_REASONS = "other reasons"
ENDED = "job ended"


@dataclass(slots=True)
class Refused:
    """How many seeds were refused for one reason, and the first of them: place and URL."""

    count: int = 0
    examples: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class Tally:
    """What became of the seeds so far."""

    new: int = 0
    known: int = 0
    refused: dict[str, Refused] = field(default_factory=dict)
    bytes_read: int = 0

    @property
    def read(self) -> int:
        """How many there were."""
        return self.new + self.known + self.turned_down

    @property
    def turned_down(self) -> int:
        """How many were refused, for whatever reason."""
        return sum(refused.count for refused in self.refused.values())

    def count_bytes(self, count: int) -> None:
        """More of the files was read."""
        self.bytes_read += count

    def note(self, seed: Seed, result: str) -> None:
        """Count a seed by its result: new, known, or why it was refused."""
        if result == "new":
            self.new += 1
        elif result == "known":
            self.known += 1
        else:
            self._refuse(seed, result)

    def _refuse(self, seed: Seed, reason: str) -> None:
        if reason not in self.refused and len(self.refused) >= MOST_REASONS:
            reason = OTHER_REASONS
        refused = self.refused.setdefault(reason, Refused())
        refused.count += 1
        if len(refused.examples) < EXAMPLES:
            text = seed.request.url if seed.request else seed.text
            refused.examples.append((seed.place, mask_text(text[:200])))


class Push:
    """Takes seeds to the frontier. on_group is told of each group once it is counted or waits."""

    def __init__(
        self,
        frontier: Frontier,
        *,
        tally: Tally,
        batch: int,
        on_group: Callable[[list[Seed]], None],
    ) -> None:
        self._frontier = frontier
        self._tally = tally
        self._size = batch
        self._on_group = on_group
        self._batch: list[Seed] = []
        self._bytes = 0
        self._since = 0.0

    async def run(self, sources: Iterable[AsyncGenerator[list[Seed], None]]) -> None:
        """Push all that the sources have; raises JobEnded when the job takes nothing more."""
        for source in sources:
            async with aclosing(source) as groups:
                async for group in groups:
                    await self._take(group)
                    self._on_group(group)
            await self._flush()

    async def _take(self, group: list[Seed]) -> None:
        for seed in group:
            if seed.request is None:
                self._tally.note(seed, seed.reason)
                continue
            self._since = self._since if self._batch else time.monotonic()
            self._batch.append(seed)
            self._bytes += seed.size
            if len(self._batch) >= self._size or self._bytes >= BATCH_BYTES:
                await self._flush()
        if self._batch and (not group or time.monotonic() - self._since >= WAIT_S):
            await self._flush()

    async def _flush(self) -> None:
        batch, self._batch, self._bytes = self._batch, [], 0
        if not batch:
            return
        adding = asyncio.create_task(self._add(batch))
        try:
            await asyncio.shield(adding)
        except asyncio.CancelledError:
            with suppress(FrontierError):
                await adding
            raise

    async def _add(self, batch: list[Seed]) -> None:
        requests = [seed.request for seed in batch if seed.request]
        added = await self._frontier.add(requests)
        for seed, result in zip(batch, added.results, strict=True):
            self._tally.note(seed, result)
        if all(result == ENDED for result in added.results):
            raise await _ended(self._frontier, requests[0].job)


async def stand(frontier: Frontier, job: str, *, spider: str | None, args: dict[str, str]) -> bool:
    """See to it that a job stands: submitted, if there is none and its spider is named.

    True if this submitted it: then its first hold is the caller's to let go, once it has another.
    """
    wanted = Job(id=job, spider=spider, args=args) if spider else None
    submitted = False
    try:
        record = await frontier.jobs.record(job)
    except UnknownJob:
        if wanted is None:
            raise NoJobToPushTo(job=job) from None
        record, submitted = await frontier.jobs.submit(wanted), True
    if wanted and record.job.lane != wanted.lane:
        raise JobDiffers(job=job, standing=_told(record.job), wanted=_told(wanted))
    return submitted


def hold_name(frontier: Frontier) -> str:
    """A name for a hold, of its own each time: one may end before another does."""
    return f"{PUSHING}{frontier.worker}:{secrets.token_hex(4)}"


@asynccontextmanager
async def held_open(frontier: Frontier, job: str, *, name: str = "") -> AsyncIterator[None]:
    """Hold a job open: it does not complete before the block ends, or a minute after a crash.

    name is that of a hold which it was made with, to be kept and let go like any other.
    """
    if not name:
        name = hold_name(frontier)
        if not await frontier.jobs.hold(job, name, ms=HOLD_MS):
            raise await _ended(frontier, job)
    renewing = asyncio.create_task(_keep_hold(frontier, job, name))
    away = False
    try:
        yield
    except ServerUnavailable:
        away = True  # to let go would only wait as long again; the hold runs out by itself
        raise
    finally:
        renewing.cancel()
        with suppress(asyncio.CancelledError):
            await renewing
        if not away:
            await frontier.jobs.release_hold(job, name)


async def _keep_hold(frontier: Frontier, job: str, name: str) -> None:
    while True:
        await asyncio.sleep(HOLD_MS / 3000)
        try:
            await frontier.jobs.hold(job, name, ms=HOLD_MS)
        except FrontierError as error:
            log.warning("the job could not be held open", job=job, error=str(error))


async def _ended(frontier: Frontier, job: str) -> JobEnded:
    record = await frontier.jobs.record(job)
    return JobEnded(job=job, outcome=record.outcome)


def _told(job: Job) -> str:
    args = ", ".join(f"{name}={value}" for name, value in sorted(job.args.items()))
    return f"spider {job.spider}" + (f" with {args}" if args else "")
