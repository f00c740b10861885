"""Hands on what engines settled: items to the sink, then children, then the settlements.

Many pages go together: one put, then one `frontier.settle`, which queues the children before it
ends the leases. While a flush is under way the next batch gathers; when engines have enough to do
it gathers a little longer. A page leaves the queue only when its settlement was answered, so
whatever fails is repeated, and a repeat changes nothing.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from skitter.errors import FrontierError, ServerFull, ServerUnavailable
from skitter.intake.signals import Backoff

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from skitter.frontier import Frontier, Settlement
    from skitter.intake.holding import Holding
    from skitter.intake.page import Page
    from skitter.intake.returner import EndedTurn, Returner
    from skitter.intake.storer import Storer

log = structlog.get_logger(__name__)

MOST_PAGES = 250
MOST_CHILDREN = 5_000
MOST_ITEMS = 5_000


class Flusher:
    """The queue of settled pages. `flushed` is told after each batch whether it had children."""

    def __init__(
        self,
        frontier: Frontier,
        holding: Holding,
        *,
        storer: Storer,
        returner: Returner,
        linger: Callable[[], Awaitable[None]],
    ) -> None:
        self.flushed: Callable[[bool], None]
        self._frontier = frontier
        self._holding = holding
        self._storer = storer
        self._returner = returner
        self._linger = linger
        self._work = asyncio.Event()
        self._backoff = Backoff()

    def add(self, page: Page) -> None:
        """Queue a page that was settled."""
        self._holding.unflushed[page] = None
        self._holding.children += len(page.children)
        self._holding.items += len(page.items)
        self._work.set()

    def abandon(self, page: Page) -> None:
        """Take a page out of the queue: it will be handed back, and its output comes again."""
        del self._holding.unflushed[page]
        self._holding.children -= len(page.children)
        self._holding.items -= len(page.items)
        page.children, page.items = [], []

    async def run(self) -> None:
        """Flush until cancelled."""
        while True:
            await self._work.wait()
            await self._linger()
            self._work.clear()
            if await self._try():
                self._backoff.reset()
            else:
                await self._backoff.pause()
            if self._holding.unflushed:
                self._work.set()

    async def _try(self) -> bool:
        try:
            return await self.flush()
        except (ServerUnavailable, ServerFull) as error:
            log.warning("settlements wait", reason=str(error))
        except Exception:  # the loop goes on, and the pages stay queued
            log.exception("settlements could not be flushed")
        return False

    async def flush(self) -> bool:
        """Flush one batch; False if something of it has to be tried again."""
        batch = self._next_batch()
        pages = await self._storer.store([page for page in batch if not page.gone])
        await self._settle(pages)
        for page in batch:
            if page.gone:
                self._end(page, accepted=False)
        return not any(page in self._holding.unflushed for page in batch)

    def _next_batch(self) -> list[Page]:
        batch: list[Page] = []
        children = items = 0
        for page in self._holding.unflushed:
            children += len(page.children)
            items += len(page.items)
            too_much = children > MOST_CHILDREN or items > MOST_ITEMS or len(batch) == MOST_PAGES
            if batch and too_much:
                break
            batch.append(page)
        return batch

    async def _settle(self, pages: Sequence[Page]) -> None:
        if not pages:
            return
        for page in pages:
            await self._add_rest(page)
        try:
            await self._settle_together(pages)
        except ServerFull:
            # What brings nothing new is still taken, and makes room.
            await self._settle_together([page for page in pages if not page.children])
            raise
        except ServerUnavailable:
            raise
        except FrontierError as error:
            log.warning("a batch was refused", pages=len(pages), error=str(error))
            await self._settle_each(pages)

    async def _add_rest(self, page: Page) -> None:
        """A page that added some children before counts on from them."""
        if page.met is not None and page.children:
            await self._frontier.add(page.children, parent=page.request, met=page.met)
            self._holding.children -= len(page.children)
            page.children = []

    async def _settle_each(self, pages: Sequence[Page]) -> None:
        """One page's trouble is not the others': it loses its figures, or else its settlement."""
        for page in pages:
            try:
                await self._settle_together([page])
            except (ServerFull, ServerUnavailable):
                raise
            except FrontierError as error:
                log.error("settlement refused", url=page.request.url, error=str(error))  # noqa: TRY400
                if page.settlement and page.settlement.figures:
                    page.settlement.figures = {}
                else:
                    # Its lease runs out, and the request is handed out again.
                    self._end(page, accepted=False)

    async def _settle_together(self, pages: Sequence[Page]) -> None:
        """One call for all. A page that was abandoned meanwhile has lost its children: not it."""
        pages = [page for page in pages if page in self._holding.unflushed]
        if not pages:
            return
        turns = [self._returner.claim(page.lease.token) for page in pages]
        settlements = [_settlement(*both) for both in zip(pages, turns, strict=True)]
        had_children = any(page.children for page in pages)
        try:
            answers = await self._frontier.settle(settlements)
        except BaseException:
            for turn in filter(None, turns):
                self._returner.end(turn)
            raise
        for page, accepted in zip(pages, answers, strict=True):
            self._end(page, accepted=accepted)
        for turn in filter(None, turns):
            self._returner.reported(turn)
        self.flushed(had_children)

    def _end(self, page: Page, *, accepted: bool) -> None:
        if page not in self._holding.unflushed:
            return
        self.abandon(page)
        page.accepted = accepted
        self._count(page, accepted=accepted)
        self._holding.drop(page)

    def _count(self, page: Page, *, accepted: bool) -> None:
        stats, outcome = self._holding.stats, page.settlement and page.settlement.outcome
        stats.settled += accepted
        stats.refused += not accepted
        stats.retried += accepted and outcome == "retry"
        stats.buried += accepted and outcome == "bury"


def _settlement(page: Page, turn: EndedTurn | None) -> Settlement:
    """What the frontier is told, with a fetch that it was not told of yet."""
    settlement = page.settlement
    assert settlement is not None  # noqa: S101 - only settled pages are queued
    settlement.children = page.children
    settlement.fetch = turn.report() if turn else None
    return settlement
