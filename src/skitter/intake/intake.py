"""Between the frontier and the engines of one process: prefetch, pace, renew, settle in order.

An engine opens a lane, takes pages from it as they come due, asks `may_send` right before each
write, reports each fetch with `fetched`, gathers children and items on the page, and settles it.
What happens to the server, the sink or other workers meanwhile is dealt with here: loops back off
and go on, memory is bounded by `room`, and nothing is sent on a lease that may be stale.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, Self

import structlog

from skitter.errors import ServerFull, ServerUnavailable
from skitter.frontier import Fetch, Settlement
from skitter.intake.bounds import Bounds, IntakeStats
from skitter.intake.flusher import Flusher
from skitter.intake.holding import Holding
from skitter.intake.lane import Lane
from skitter.intake.leaser import Leaser
from skitter.intake.pacer import Pacer
from skitter.intake.page import Page
from skitter.intake.permits import Permits
from skitter.intake.renewer import Renewer
from skitter.intake.returner import EndedTurn, Returner
from skitter.intake.signals import Backoff
from skitter.intake.storer import Storer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skitter.frontier import Frontier, Permit, Request
    from skitter.intake.bodies import Body
    from skitter.sinks import Sink

log = structlog.get_logger(__name__)

CHUNK = 500
SLOW_DOWN = (429, 503)
UNKNOWN = -1
LOOK_S = 1.0
GIVE_BACK_S = 1.0


def _direct() -> Sequence[str]:
    return ("direct",)


class Intake:
    """One process's share of the work; all of its lanes share it. Everything runs in one loop.

    egresses gives the addresses that requests can leave by now; shards restricts what is leased.
    renew_margin_s is how long before its end nothing is sent on a lease.
    """

    def __init__(
        self,
        frontier: Frontier,
        *,
        sink: Sink,
        bounds: Bounds | None = None,
        egresses: Callable[[], Sequence[str]] = _direct,
        shards: Sequence[int] | None = None,
        renew_margin_s: float = 3.0,
    ) -> None:
        self._frontier = frontier
        self._tasks: list[asyncio.Task[None]] = []
        self._holding = Holding(frontier, bounds=bounds or Bounds(), margin_s=renew_margin_s)
        self._pacer = Pacer()
        self._storer = Storer(sink, self._holding)
        self._leaser = Leaser(frontier, self._holding, egresses=egresses, shards=shards)
        self._returner = Returner(
            frontier,
            self._holding,
            linger=self._leaser.linger,
            turn_free=self._leaser.turn_free,
        )
        self._flusher = Flusher(
            frontier,
            self._holding,
            storer=self._storer,
            returner=self._returner,
            linger=self._leaser.linger,
        )
        self._renewer = Renewer(frontier, self._holding, self._pacer, withdraw=self._withdraw)
        self._permits = Permits(frontier, self._holding, self._returner)
        self._leaser.deal = self._pacer.offer
        self._leaser.withdraw = self._withdraw
        self._leaser.returner = self._returner
        self._flusher.flushed = self._flushed
        self._holding.bodies.on_room = self._body_room_made

    async def open(self) -> None:
        """Start the loops; the sink is opened and closed by whoever made it."""
        loops = (self._leaser, self._renewer, self._returner, self._flusher)
        self._tasks = [asyncio.create_task(loop.run()) for loop in loops]

    async def close(self) -> None:
        """End the loops. What is still held is handed back, if the server is there."""
        await self.drain(0)
        self._pacer.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def stats(self) -> IntakeStats:
        """What is held now, and what was done so far."""
        holding = self._holding
        return replace(
            holding.stats,
            in_hand=holding.in_hand,
            prefetched=len(holding.untaken),
            children=holding.children,
            items=holding.items,
            settlements=len(holding.unflushed),
            body_bytes=holding.bodies.bytes,
        )

    def lane(self, lane: str, *, wake: Callable[[], None], room: Callable[[], int]) -> Lane:
        """Open an engine's queue; see `Lane` for what wake and room are."""
        if lane in self._leaser.lanes:
            raise ValueError(f"lane {lane} is open already")
        opened = Lane(lane, wake=wake, room=room, holding=self._holding)
        opened.on_low = self._leaser.room_made
        opened.on_close = self._close_lane
        self._leaser.lanes[lane] = opened
        self._leaser.ask_by(0.0)
        return opened

    def declare(self, lane: str, gates: str) -> None:
        """What a lane's spider asks of a run: each job that comes to it is told, before its pages.

        gates is JSON, or '' for nothing.
        """
        if gates:
            self._leaser.declared[lane] = gates

    def fetched(self, page: Page, fetch: Fetch) -> None:
        """A fetch of this page's turn is over: its head arrived, or the attempt failed.

        The turn ends with it. Of a host without a delay, report it when the body is in: there a
        turn stands for load. Twice is the same as once.
        """
        if page.turn_over:
            return
        now = time.monotonic()
        page.turn_over = True
        page.head_at = max(page.head_at, now - fetch.ago_ms / 1000)
        self._pacer.turn_over(page)
        if fetch.status in SLOW_DOWN or (fetch.status == 0 and page.batch):
            self._withdraw([p for p in self._holding.untaken if p.host == page.host])
        next_at = (
            page.head_at + page.lease.delay_ms / 1000 if self._pacer.is_last(page) else now + LOOK_S
        )
        self._returner.end(EndedTurn(page.lease, fetch, said_at=now, next_at=next_at))

    def may_send(self, held: Page | Permit) -> bool:
        """Whether its host may be asked on it: to be asked right before each write.

        If not, nothing of it may be sent any more: release the page, or settle it.
        """
        allowed = self._holding.may_send(held)
        if allowed and isinstance(held, Page):
            held.sent = True
        return allowed

    async def paced(self, page: Page) -> bool:
        """Wait until the host's delay since the last head has passed, and say if it may be sent.

        Needed where something was fetched in the page's turn before (its `head_at` says when), and
        where the delay may have grown since the page was taken.
        """
        while (wait_s := self._pacer.wait_s(page)) > 0 and self._holding.may_send(page):  # noqa: ASYNC110
            await asyncio.sleep(min(wait_s, LOOK_S))
        return self.may_send(page)

    async def add_children(self, page: Page, requests: Sequence[Request]) -> None:
        """Queue children of a page before it is settled; they are durable on return.

        For pages with very many (a start() with a million seeds). It waits while the server is
        away or full. What is refused (out of scope, over a limit) is left out, as in a settlement.
        """
        page.adding = page.adding or asyncio.Lock()
        async with page.adding:
            page.met = {} if page.met is None else page.met
            for first in range(0, len(requests), CHUNK):
                await self._add(page, requests[first : first + CHUNK])
        self._leaser.ask_by(0.0)

    async def _add(self, page: Page, requests: Sequence[Request]) -> None:
        backoff = Backoff()
        while True:
            try:
                await self._frontier.add(requests, parent=page.request, met=page.met)
                return
            except (ServerUnavailable, ServerFull) as error:
                log.warning("children wait", url=page.request.url, reason=str(error))
            await backoff.pause()

    def body(self) -> Body:
        """Room for a body that is fetched outside the queue; let it go in the end."""
        return self._holding.bodies.begin()

    async def room(self, page: Page | None = None) -> None:
        """Wait while more waits to be flushed than may; an engine awaits it between outputs.

        Of the page that is named, what it has gathered so far is handed on early once it is much.
        """
        if page is not None:
            await self._relieve(page)
        while self._holding.over_bounds and not self._leaser.stopping:
            await self._holding.change.until(lambda: not self._holding.over_bounds, LOOK_S)

    async def _relieve(self, page: Page) -> None:
        if len(page.items) >= CHUNK:
            await self._storer.store_early(page)
        if len(page.children) >= CHUNK:
            children, page.children = page.children, []
            await self.add_children(page, children)

    def settle(
        self,
        page: Page,
        outcome: Literal["done", "retry", "bury"] = "done",
        *,
        page_given: bool,
        reason: str = "",
        error: str = "",
        retry_ms: int = 0,
        figures: Mapping[str, int] | None = None,
    ) -> None:
        """Say what became of a page; never waits. Its items, then its children, then this.

        page_given says that a response was given to the spider. A page that is over is left alone.
        """
        self._let_go(page)
        if page.over or page.settlement:
            return
        self._end_turn(page)
        page.settlement = Settlement(
            page.lease,
            outcome,
            page=page_given,
            retry_ms=retry_ms,
            reason=reason,
            error=error,
            figures=dict(figures or {}),
        )
        self._flusher.add(page)
        self._leaser.room_made()

    def release(self, page: Page) -> None:
        """Hand a request back untouched: it is first in line again, and nothing is counted."""
        self._let_go(page)
        if page.over or page.settlement:
            return
        self._end_turn(page)
        self._withdraw([page])

    async def permit(self, host: str, *, egress: str = "direct", timeout_s: float) -> Permit:
        """A turn at a host outside the queue; renewed while it is held. Raises TimeoutError.

        Prefetched work of a host with a delay is handed back for it: its batch would come first.
        End it with `permit_over`.
        """
        unit = self._frontier.hosts.unit_of(host)
        mine = (unit, egress)
        self._withdraw([p for p in self._holding.untaken if p.batch and p.host == mine])
        return await self._permits.wait(host, egress=egress, timeout_s=timeout_s)

    def permit_over(self, permit: Permit, fetch: Fetch | None) -> None:
        """Give a permit's turn back; None says that nothing was sent."""
        self._permits.forget(permit)
        if fetch is None:
            self._returner.hand_back([permit])
            return
        now = time.monotonic()
        next_at = now + (permit.delay_ms - fetch.ago_ms) / 1000
        self._returner.end(EndedTurn(permit, fetch, said_at=now, next_at=next_at))

    async def drain(self, grace_s: float) -> None:
        """Stop leasing and hand back what no engine has taken, at once.

        Then wait for the rest to be settled and flushed, at most for the grace period; what is left
        after it is handed back too.
        """
        self._leaser.stop()
        self._withdraw(self._holding.untaken)
        if not self._tasks:
            return
        change, leasing = self._holding.change, self._tasks[0]
        if not await change.until(lambda: not self._holding.pages, grace_s):
            self._abandon()
        await asyncio.wait([leasing], timeout=GIVE_BACK_S)
        await change.until(lambda: self._returner.idle, GIVE_BACK_S)

    def _abandon(self) -> None:
        """Hand back what engines still have: its host may have been asked, and rests a while."""
        for page in list(self._holding.pages.values()):
            if page in self._holding.unflushed:
                self._flusher.abandon(page)
            self._end_turn(page)
            self._withdraw([page])
        self._returner.hand_back(self._holding.permits.values())
        self._holding.permits.clear()

    def _end_turn(self, page: Page) -> None:
        """Whatever its engine forgot to say: a host that may have been asked gets its pause."""
        if page.turn_over:
            return
        if page.sent or page.head_at:
            ago_ms = 1000 * (time.monotonic() - page.head_at) if page.head_at else 0.0
            self.fetched(page, Fetch(ago_ms=ago_ms, status=UNKNOWN))
            return
        page.turn_over = True
        self._pacer.turn_over(page)

    def _withdraw(self, pages: Sequence[Page]) -> None:
        """Let go of pages: out of the queues, and back to the frontier unless they are gone."""
        if not pages:
            return
        for page in pages:
            self._holding.drop(page)
        self._pacer.withdraw(set(pages))
        self._returner.hand_back([page.lease for page in pages if not page.gone])
        self._leaser.room_made()

    async def _close_lane(self, lane: Lane) -> None:
        self._leaser.lanes.pop(lane.name, None)
        self._leaser.declared.pop(lane.name, None)
        self._withdraw([page for page in self._holding.untaken if page.lane is lane])
        await self._holding.change.until(lambda: self._returner.idle, GIVE_BACK_S)

    @staticmethod
    def _let_go(page: Page) -> None:
        """Whatever becomes of its lease, its engine has done with its body."""
        if page.body:
            page.body.let_go()
            page.body = None

    def _body_room_made(self) -> None:
        for lane in self._leaser.lanes.values():
            self._pacer.wake_soon(lane)
        self._leaser.room_made()

    def _flushed(self, had_children: bool) -> None:  # noqa: FBT001 - a callback with one fact
        if had_children:
            self._leaser.ask_by(0.0)
        self._leaser.room_made()
        self._holding.change.tell()
