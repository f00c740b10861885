"""Asks hosts, each in its turn: the one place from which anything is sent.

A leased request is asked in its host's turn: robots.txt first, then after the host's delay, and
only while its lease is sure. Anything else (media, inline downloads) takes a permit. A response is
handed on when there is room for what it will give. Both engines ask here; they differ in `send`.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import DownloadTimeoutError
from scrapy.utils.httpobj import urlparse_cached

from skitter.engine.exits import Exit
from skitter.engine.gate import RobotsGate
from skitter.engine.turn import Turn
from skitter.engine.verdicts import ELSEWHERE, NotSent
from skitter.engine.visit import current
from skitter.frontier import Fetch
from skitter.policies.proxies import DIRECT
from skitter.policies.retry import retry_after_ms

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import TracebackType

    from scrapy import Request as ScrapyRequest
    from scrapy.http import Headers, Response

    from skitter.engine.crawl import Crawl
    from skitter.engine.visit import Visit
    from skitter.intake import Page
    from skitter.intake.bodies import Body

PERMIT_TIMEOUT_S = 180.0
SLOW_DOWN = (429, 503)


class Head:
    """When the head of an answer arrived; `tell` hears of it at once, where that is wanted.

    body: what counts the answer's bytes as they come. may_send: to be asked right before the write.
    """

    __slots__ = ("at", "begun", "body", "may_send", "tell")

    def __init__(
        self,
        body: Body,
        may_send: Callable[[], bool],
        tell: Callable[[Fetch], None] | None = None,
    ) -> None:
        self.begun = time.monotonic()
        self.at = 0.0
        self.body = body
        self.may_send = may_send
        self.tell = tell

    def arrived(self, status: int = 0, headers: Headers | None = None) -> None:
        """The time that a host's pace is counted from, as near to the wire as it is known."""
        self.at = time.monotonic()
        if self.tell and status:
            self.tell(self.fetch(status, headers))

    def fetch(self, status: int, headers: Headers | None = None) -> Fetch:
        """What the host's clock is told; without a head, the attempt's end counts."""
        wait_ms = 0.0
        if headers and status in SLOW_DOWN:
            wait_ms = retry_after_ms(headers.get(b"Retry-After") or b"")
        if not self.at:
            return Fetch(status=status, retry_after_ms=wait_ms)
        ago_ms, latency_ms = (time.monotonic() - self.at) * 1000, (self.at - self.begun) * 1000
        return Fetch(ago_ms, latency_ms, status, wait_ms)


class Asking:
    """One crawler's turns. `send` asks at once, and notes when the head of the answer arrived."""

    def __init__(
        self, crawl: Crawl, send: Callable[[ScrapyRequest, Head], Awaitable[Response]]
    ) -> None:
        self._crawl = crawl
        self._send = send
        self._gate = RobotsGate(crawl, self)
        self._patience = Patience()

    def stop_waiting(self) -> None:
        """Whatever waits for its host's pace gives up: the crawler stops."""
        self._patience.end()

    async def leased(self, visit: Visit, request: ScrapyRequest) -> Response:
        """Ask in the turn of a page; raises NotSent, Disallowed, GivenUp, and what `send` raises.

        A host with a delay is told when the head is there, so that its pause begins then; of one
        without, a turn stands for load, and ends with the body.
        """
        process, page = self._crawl.process, visit.page
        assert page.body is not None  # noqa: S101 - every page that was taken has one
        with self._patience:
            await self._gate.pass_(visit, request)
            if not await process.intake.paced(page):
                raise NotSent
        way = Exit(process.proxies, page.lease.egress, page.lease.host)
        turn = Turn(
            page.body,
            partial(process.intake.may_send, page),
            partial(self._fetched, page),
            early=page.lease.delay_ms > 0,
        )
        response, fetch = await self.ask(request, way, turn)
        if fetch.status == ELSEWHERE:
            raise NotSent
        page.body.arrived(len(response.body))
        await process.intake.room()
        await page.body.passed_on()
        return response

    def _fetched(self, page: Page, fetch: Fetch | None) -> None:
        if fetch:  # else its lease is lost, and with it the turn
            self._crawl.process.intake.fetched(page, fetch)

    async def permitted(self, request: ScrapyRequest) -> Response:
        """Ask for something that is not queued, when its host gives a turn."""
        intake, proxies = self._crawl.process.intake, self._crawl.process.proxies
        host = urlparse_cached(request).hostname or ""
        egress = next(iter(proxies.egresses()), DIRECT)
        try:
            permit = await intake.permit(host, egress=egress, timeout_s=PERMIT_TIMEOUT_S)
        except TimeoutError as error:
            raise DownloadTimeoutError(f"{host} gave no turn for {request.url}") from error
        try:
            way = Exit(proxies, egress, permit.host)
            if not intake.may_send(permit):
                raise NotSent  # noqa: TRY301 - both mean that nothing is sent
        except NotSent as error:
            intake.permit_over(permit, None)
            raise DownloadTimeoutError(f"the turn for {request.url} was lost") from error
        body = intake.body()
        try:
            turn = Turn(body, partial(intake.may_send, permit), partial(intake.permit_over, permit))
            response, _ = await self.ask(request, way, turn)
        finally:
            body.let_go()
        self._count_in(response)
        return response

    @staticmethod
    def _count_in(response: Response) -> None:
        """A response of no page of its own is in the hands of the page whose code asked for it."""
        visit = current()
        if visit and visit.page.body:
            visit.page.body.hold(visit.page.body.counted + len(response.body))

    async def ask(self, request: ScrapyRequest, way: Exit, turn: Turn) -> tuple[Response, Fetch]:
        """Ask now, and report when the head of the answer arrived; whoever calls has the turn.

        ELSEWHERE in place of the status: it should be asked through another egress. An error that
        says so is NotSent, and so is a turn that was lost before anything was written.
        """
        # Whose answer it is, the proxy's or the site's, is known when all of it is there.
        head = Head(turn.body, turn.may_send, turn.report if turn.early and way.is_direct else None)
        fetch, sent = None, True
        try:
            response = await way.through(request, partial(self._send, request, head))
            status = ELSEWHERE if way.answered(request, response) else response.status
            fetch = head.fetch(status, response.headers)
            return response, fetch
        except NotSent:
            sent = False
            raise
        except Exception as error:
            if way.failed(request, error):
                fetch = head.fetch(ELSEWHERE)
                raise NotSent from error
            raise
        finally:
            turn.report(fetch or (head.fetch(0) if sent else None))


class Patience:
    """Waiting that ends when the crawler stops: NotSent is raised where a task waited."""

    def __init__(self) -> None:
        self._ended = False
        self._waiting: set[asyncio.Task[Any]] = set()

    def end(self) -> None:
        """Wait no more."""
        self._ended = True
        for task in self._waiting:
            task.cancel()

    def __enter__(self) -> None:
        if self._ended:
            raise NotSent
        task: Any = asyncio.current_task()
        self._waiting.add(task)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        task: Any = asyncio.current_task()
        self._waiting.discard(task)
        if kind is asyncio.CancelledError and self._ended:
            task.uncancel()
            raise NotSent from None
