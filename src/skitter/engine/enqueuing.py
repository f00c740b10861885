"""Requests that come from callbacks, and those that no page made: an extension's, at idle.

The former stay with their page until it is settled; the latter go to the crawler's job directly.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import structlog

from skitter.errors import FrontierError

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request as ScrapyRequest

    from skitter.engine.crawl import Crawl

log = structlog.get_logger(__name__)


class Enqueuing:
    """Takes requests in. `stir` is told that one came from nowhere; `wake`, that it is queued."""

    def __init__(self, crawl: Crawl, *, stir: Callable[[], None], wake: Callable[[], None]) -> None:
        self._crawl = crawl
        self._stir = stir
        self._wake = wake
        self._adding: set[asyncio.Task[None]] = set()

    @property
    def busy(self) -> bool:
        """Whether something has still to be queued."""
        return bool(self._crawl.adrift or self._adding)

    def enqueue(self, request: ScrapyRequest) -> bool:
        """Keep a request; False if it is dropped. Never raises: a request would be lost unsaid."""
        try:
            kept = self._crawl.take_in(request)
            if self._crawl.adrift:
                self._stir()
                if not self._adding:
                    self._begin()
        except Exception:
            log.exception("request could not be taken in", url=request.url)
            return False
        return kept

    async def finish(self) -> None:
        """Wait until all is queued."""
        await asyncio.gather(*self._adding, return_exceptions=True)

    def _begin(self) -> None:
        task = asyncio.create_task(self._add())
        self._adding.add(task)
        task.add_done_callback(self._added)

    def _added(self, task: asyncio.Task[Any]) -> None:
        self._adding.discard(task)
        self._wake()

    async def _add(self) -> None:
        while self._crawl.adrift:
            requests, self._crawl.adrift = self._crawl.adrift, []
            try:
                added = await self._crawl.process.frontier.add(requests)
            except FrontierError as error:
                self._crawl.adrift = requests + self._crawl.adrift
                log.warning("requests could not be added yet", error=str(error))
                await asyncio.sleep(1)
                continue
            for reason, number in added.refused.items():
                log.warning("requests refused", reason=reason, number=number)
