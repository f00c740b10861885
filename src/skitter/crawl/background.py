"""The thread of a crawl: its loop, and the calls that come from other threads."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import sys
import threading
from typing import TYPE_CHECKING, Any, TypeVar

import structlog

from skitter.crawl.running import Running

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

    from scrapy import Spider

    from skitter.jobs.submission import Submission
    from skitter.jobs.view import JobView
    from skitter.settings import Settings

T = TypeVar("T")


class Background:
    """One crawl, in a thread. Started once; other methods wait for it."""

    def __init__(
        self, settings: Settings, submission: Submission, *, spider: type[Spider] | None
    ) -> None:
        self._settings = settings
        self._submission = submission
        self._spider = spider
        self._running: Running | None = None
        self._loop = asyncio.new_event_loop()
        self._standing: concurrent.futures.Future[None] = concurrent.futures.Future()
        self._ended: concurrent.futures.Future[JobView] = concurrent.futures.Future()

    @property
    def job(self) -> str:
        return self._run.job

    def start(self, *, tapped: bool) -> None:
        """Start the thread, and return when the job stands."""
        if self._running is not None:
            raise RuntimeError("the crawl was started before: make another one")
        _be_quiet()
        self._running = Running(self._settings, self._submission, self._spider, tapped=tapped)
        threading.Thread(target=self._work, name="skitter-crawl", daemon=True).start()
        self._standing.result()

    def items(self) -> Iterator[dict[str, Any]]:
        """Items as they are stored, until there will be no more."""
        while (batch := self._ask(self._run.next_items())) is not None:
            yield from batch

    def view(self) -> JobView:
        if self._ended.done():
            return self._ended.result()
        try:
            return self._ask(self._run.view())
        except concurrent.futures.CancelledError:  # it ended meanwhile
            return self._ended.result()

    def wait(self, timeout_s: float | None) -> JobView:
        return self._ended.result(timeout_s)

    def stop(self) -> JobView:
        if not self._ended.done():
            self._loop.call_soon_threadsafe(self._run.stop)
        return self._ended.result()

    @property
    def _run(self) -> Running:
        if self._running is None:
            raise RuntimeError("the crawl is not started: call run() or start()")
        return self._running

    def _ask(self, question: Coroutine[Any, Any, T]) -> T:
        if self._ended.done():
            question.close()
            self._ended.result()
            raise concurrent.futures.CancelledError
        return asyncio.run_coroutine_threadsafe(question, self._loop).result()

    def _work(self) -> None:
        """The thread."""
        asyncio.set_event_loop(self._loop)
        try:
            view = self._loop.run_until_complete(self._run.work(self._stands))
        except BaseException as error:  # noqa: BLE001 - whoever waits has to hear of it
            for waited in (self._standing, self._ended):
                if not waited.done():
                    waited.set_exception(error)
        else:
            self._ended.set_result(view)
        finally:
            self._loop.run_until_complete(_end_tasks())
            self._loop.close()

    def _stands(self) -> None:
        if not self._standing.done():
            self._standing.set_result(None)


async def _end_tasks() -> None:
    """Questions that are still being asked have no answer any more."""
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _be_quiet() -> None:
    """A script that set no logging up hears warnings, on stderr, and nothing else."""
    if not structlog.is_configured():
        structlog.configure(
            wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
            logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        )
