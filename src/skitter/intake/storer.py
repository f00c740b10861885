"""Makes pages' items durable: many pages in one put, each by itself when that fails.

A sink that takes nobody's items is away: all wait, with growing pauses, for as long as it takes.
One that takes the others' has something against a page, which is then tried again later, or buried
at once if the sink says that to try again is useless. Items come twice after some failures; a sink
takes the same item twice as one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from skitter.errors import SinkError, SinkRefused
from skitter.intake.signals import Backoff

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skitter.intake.holding import Holding
    from skitter.intake.page import Page
    from skitter.sinks import Item, Sink

log = structlog.get_logger(__name__)

REASON = "sink"
RETRY_MS, LONGEST_RETRY_MS = 30_000, 600_000
MOST_ATTEMPTS = 8


class Storer:
    """A sink, with what to do when it fails."""

    def __init__(self, sink: Sink, holding: Holding) -> None:
        self._sink = sink
        self._holding = holding

    async def store(self, pages: Sequence[Page]) -> list[Page]:
        """Those pages that have nothing left to store; the others are to be tried again."""
        given = [page for page in pages if page.items]
        items = [item for page in given for item in page.items]
        error = await self._put(items)
        if error is None:
            for page in given:
                self._forget_items(page)
        else:
            log.warning("items could not be stored", items=len(items), error=str(error))
            await self._store_each(given, error)
        return [page for page in pages if not page.items]

    async def store_early(self, page: Page) -> None:
        """Store what a page has gathered so far; waits while the sink is away.

        Raises what the sink says if to try again is useless.
        """
        items, backoff = list(page.items), Backoff()
        while isinstance(error := await self._put(items), SinkError):
            if isinstance(error, SinkRefused):
                break
            log.warning("items wait", url=page.request.url, error=str(error))
            await backoff.pause()
        if error:
            raise error
        del page.items[: len(items)]
        page.stored += len(items)

    async def _store_each(self, pages: Sequence[Page], error: Exception) -> None:
        """Find out whose items the sink does not take.

        Where it took some, those that failed are tried once more: it may have come back meanwhile.
        """
        errors = {page: await self._put(page.items) if len(pages) > 1 else error for page in pages}
        if None in errors.values():
            for page in [page for page, found in errors.items() if _may_pass(found)]:
                errors[page] = await self._put(page.items)
        away = all(isinstance(found, SinkError) for found in errors.values())
        for page, found in errors.items():
            if found is None:
                self._forget_items(page)
            elif isinstance(found, SinkRefused) or not away:
                self._fail(page, found)

    async def _put(self, items: Sequence[Item]) -> Exception | None:
        """Put items, if there are any; the error, if there was one."""
        try:
            if items:
                await self._sink.put(items)
        except Exception as error:  # noqa: BLE001 - a sink may be anyone's code
            return error
        return None

    def _fail(self, page: Page, error: Exception) -> None:
        """The page is not done, whatever its engine said. Its children come again with it."""
        settlement = page.settlement
        assert settlement is not None  # noqa: S101 - only settled pages come here
        attempts = page.request.attempts
        last = isinstance(error, SinkRefused) or attempts + 1 >= MOST_ATTEMPTS
        settlement.outcome = "bury" if last else "retry"
        settlement.retry_ms = min(RETRY_MS << attempts, LONGEST_RETRY_MS)
        settlement.reason, settlement.error = REASON, str(error)
        self._forget_items(page)
        self._holding.children -= len(page.children)
        page.children = []

    def _forget_items(self, page: Page) -> None:
        self._holding.items -= len(page.items)
        page.items = []


def _may_pass(error: Exception | None) -> bool:
    return isinstance(error, SinkError) and not isinstance(error, SinkRefused)
