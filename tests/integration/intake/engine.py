"""What the tests of the intake are made of: a sink in memory, and a plain engine."""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import aiohttp

from skitter.errors import SinkError
from skitter.frontier import Fetch, Request
from skitter.sinks import Item, identify

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skitter.intake import Intake, Lane, Page

_HREF = re.compile(r'href="([^"#]+)"')


@dataclass
class MemorySink:
    """Items by id. The errors that are given are raised first, one for each put."""

    errors: deque[Exception] = field(default_factory=deque)
    items: dict[str, Item] = field(default_factory=dict)
    puts: list[int] = field(default_factory=list)
    poison: str = ""
    away: bool = False

    async def open(self) -> None: ...

    async def put(self, items: Sequence[Item]) -> None:
        await asyncio.sleep(0)
        if self.away:
            raise SinkError(sink="memory", reason="away")
        if self.errors:
            raise self.errors.popleft()
        if self.poison and any(self.poison in item.url for item in items):
            raise SinkError(sink="memory", reason=f"it does not like {self.poison}")
        self.puts.append(len(items))
        self.items.update((item.id, item) for item in items)

    async def close(self) -> None: ...


def item_of(page: Page, **data: object) -> Item:
    """An item of a page, as an engine makes it."""
    request = page.request
    return Item(
        identify(data, job=request.job, url=request.url, occurrence=0),
        job=request.job,
        spider="spider",
        url=request.url,
        kind="dict",
        data=data,
    )


class Engine:
    """Fetches what a lane gives, a task for each slot, and follows links on its hosts."""

    def __init__(
        self, intake: Intake, lane: str, *, session: aiohttp.ClientSession | None, slots: int = 16
    ) -> None:
        self.intake = intake
        self.session = session
        self.sent = 0
        self._awake = asyncio.Event()
        self._slots = slots
        self.lane: Lane = intake.lane(lane, wake=self._awake.set, room=lambda: slots)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(self._slots):
                group.create_task(self._slot())

    async def _slot(self) -> None:
        while True:
            page = self.lane.take()
            if page is None:
                self._awake.clear()
                await self._awake.wait()
            else:
                await self._visit(page)

    async def _visit(self, page: Page) -> None:
        intake, request = self.intake, page.request
        if not await intake.paced(page):
            intake.release(page)
            return
        status, text = await self._fetch(page)
        if status == 0 or status >= 500 or status == 429:
            intake.settle(page, "retry", page_given=False, reason=f"{status}", retry_ms=50)
            return
        links = dict.fromkeys(urljoin(request.url, link) for link in _HREF.findall(text))
        page.children += [Request(request.job, url, depth=request.depth + 1) for url in links]
        page.items.append(item_of(page, title=request.url))
        await intake.room(page)
        intake.settle(page, page_given=status == 200, figures={"items": 1})

    async def _fetch(self, page: Page) -> tuple[int, str]:
        assert self.session is not None
        begun = time.monotonic()
        try:
            self.sent += 1
            async with self.session.get(page.request.url, allow_redirects=False) as response:
                head_at = time.monotonic()
                text = await response.text()
        except (aiohttp.ClientError, TimeoutError):
            self.intake.fetched(page, Fetch(status=0))
            return 0, ""
        self.intake.fetched(
            page,
            Fetch(
                ago_ms=1000 * (time.monotonic() - head_at),
                latency_ms=1000 * (head_at - begun),
                status=response.status,
            ),
        )
        return response.status, text
