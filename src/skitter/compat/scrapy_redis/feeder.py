"""Brings start messages from Redis into the frontier while the crawl is under way.

It looks ten times a second, whether the crawl is busy or idle, in every process that runs the
spider. The job is held open meanwhile, until there was nothing to do for MAX_IDLE_TIME_BEFORE_CLOSE
(0: for ever). A message that cannot be used is put aside, and the rest goes on.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import structlog
from redis.exceptions import RedisError

from skitter.compat.scrapy_redis.holding import START_URLS, Hold
from skitter.compat.scrapy_redis.messages import requests_of
from skitter.engine.joining import find_live
from skitter.errors import BadRequest, BadStartMessage, FrontierError, UnstorableRequest
from skitter.frontier import Request

if TYPE_CHECKING:
    from skitter.compat.scrapy_redis.start_urls import Batch, Message, StartUrls
    from skitter.engine.crawl import Crawl

log = structlog.get_logger(__name__)

POLL_S = 0.1
LOOK_S = 0.5
TAKE_OVER_S = 2.0
PAUSE_S, LONGEST_PAUSE_S = 0.5, 10.0
STOP_S = 5.0
MOST_PRIORITY = (1 << 31) - 1
ENDED = "job ended"


class Feeder:
    """Feeds the job of one crawler from one key; `begin` it, and `close` it at the end."""

    def __init__(
        self, crawl: Crawl, source: StartUrls, *, batch_size: int, max_idle_s: float
    ) -> None:
        self._crawl = crawl
        self._source = source
        self._batch_size = batch_size
        self._max_idle_s = max_idle_s
        self._hold = Hold(crawl.process.frontier, START_URLS)
        self._spider: Any = crawl.crawler.spider
        self._job = crawl.job
        self._stopping = asyncio.Event()
        self._worked_at = time.monotonic()
        self._look_at = self._take_over_at = 0.0
        self._task: asyncio.Task[None] | None = None

    @property
    def feeding(self) -> bool:
        """Whether more may come."""
        return self._task is not None and not self._task.done()

    async def hold(self, job: str) -> None:
        """Hold a job before its start is over, for there may be nothing else in it."""
        self._job = self._job or job
        await Hold(self._crawl.process.frontier, START_URLS).keep(job)

    def begin(self) -> None:
        """Feed in a task of its own."""
        log.info("reading start URLs", key=self._source.key, batch_size=self._batch_size)
        self._task = asyncio.create_task(self._run(), name=f"start urls of {self._source.key}")

    async def close(self) -> None:
        """Let what is in hand come to its end.

        The hold runs out by itself: a worker that is started again finds its job as it was.
        """
        self._stopping.set()
        if self._task:
            _, late = await asyncio.wait([self._task], timeout=STOP_S)
            for task in late:  # its batch is taken over by another
                task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._source.close()

    async def _run(self) -> None:
        try:
            await self._go_round()
        finally:
            self._crawl.process.waiting_lanes.discard(self._crawl.lane)

    async def _go_round(self) -> None:
        pause_s = PAUSE_S
        while not self._stopping.is_set():
            try:
                if not await self._round() and await self._idle_too_long():
                    log.info("no start URLs for too long", key=self._source.key)
                    await self._hold.release()
                    break
                pause_s = PAUSE_S
            except (RedisError, OSError, FrontierError) as error:
                log.warning("start URLs wait", key=self._source.key, error=str(error))
                await self._pause(pause_s)
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    async def _round(self) -> bool:
        """Take and feed once; whether there was something. A pause follows where there was not."""
        batch = None
        waiting = self._crawl.process.waiting_lanes
        if await self._find_job():
            waiting.add(self._crawl.lane)
            batch = await self._left_behind() or await self._source.take(self._batch_size)
        else:
            waiting.discard(self._crawl.lane)
        if batch is None:
            await self._pause(POLL_S)
            return False
        self._worked_at = time.monotonic()
        await self._feed(batch)
        return True

    async def _pause(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._stopping.wait(), seconds)
        except TimeoutError:
            return

    async def _find_job(self) -> bool:
        """The crawler's own job or, in a worker, its lane's; held open from now on."""
        if self._job and await self._hold.keep(self._job):
            return True
        self._job = self._crawl.job
        if not self._job and time.monotonic() >= self._look_at:
            self._look_at = time.monotonic() + LOOK_S
            found = await find_live(self._crawl.process.frontier, self._crawl.lane)
            self._job = found.job.id if found else ""
        return False

    async def _left_behind(self) -> Batch | None:
        if time.monotonic() < self._take_over_at:
            return None
        self._take_over_at = time.monotonic() + TAKE_OVER_S
        return await self._source.take_over()

    async def _feed(self, batch: Batch) -> None:
        bad: list[Message] = []
        back: list[Message] = []
        for message in batch.messages:
            try:
                if not await self._add(message):
                    back.append(message)
            except BadStartMessage as error:
                self._tell_bad(error)
                bad.append(message)
        await self._source.settle(batch, bad=bad, back=back)
        if back:  # for the next job
            await self._pause(LOOK_S)

    def _tell_bad(self, error: BadStartMessage) -> None:
        log.error("start message put aside", into=f"{self._source.key}:bad", error=str(error))
        self._crawl.crawler.stats.inc_value("skitter/start_urls/bad")

    async def _add(self, message: Message) -> bool:
        """Queue what a message asks for; False if its job has ended. Raises BadStartMessage."""
        requests = self._requests(message)
        if not requests:
            return True
        # Tried again, after a crash between this and its settlement, it counts as known.
        parent = Request(self._job, "", key=message.id)
        added = await self._crawl.process.frontier.add(requests, parent=parent)
        if ENDED in added.results:
            return False
        if sum(added.refused.values()) == len(requests):
            raise _bad(message, ", ".join(added.refused))
        for reason, number in added.refused.items():
            log.warning("requests of a start message refused", reason=reason, number=number)
        self._crawl.crawler.stats.inc_value("skitter/start_urls/read")
        return True

    def _requests(self, message: Message) -> list[Request]:
        try:
            made = requests_of(self._spider, self._text(message))
            stored = [self._crawl.codec.store(request, self._job) for request in made]
        except (BadRequest, UnstorableRequest) as error:
            raise _bad(message, error.summary) from error
        except Exception as error:  # a spider's code may raise anything
            raise _bad(message, f"{type(error).__name__}: {error}") from error
        if not stored:
            self._skip(message)
        for request in stored:
            if message.kind == "z" and not request.priority:
                request.priority = int(max(-MOST_PRIORITY, min(MOST_PRIORITY, message.score)))
        return stored

    def _skip(self, message: Message) -> None:
        """A spider of one's own may want no request; of ours, that is a bad message."""
        if not self._spider.makes_own_requests:
            raise _bad(message, "it has no url")
        log.debug("no request made from a start message", key=self._source.key)
        self._crawl.crawler.stats.inc_value("skitter/start_urls/skipped")

    def _text(self, message: Message) -> bytes | str:
        decoded = self._crawl.crawler.settings.getbool("REDIS_DECODE_RESPONSES")
        return message.data.decode(self._spider.redis_encoding) if decoded else message.data

    async def _idle_too_long(self) -> bool:
        now = time.monotonic()
        if not self._max_idle_s or not self._job or now < self._look_at:
            return False
        self._look_at = now + LOOK_S
        stats = await self._crawl.process.frontier.stats.job(self._job)
        if stats.pending:
            self._worked_at = now
        return now - self._worked_at >= self._max_idle_s


def _bad(message: Message, reason: str) -> BadStartMessage:
    return BadStartMessage(message=message.data[:200].decode(errors="replace"), reason=reason)
