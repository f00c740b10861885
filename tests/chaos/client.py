"""A client of the frontier that does everything a crawler does, but fetches nothing.

It notes what it does before and after each call, keeps its hosts' pace, and tempts fate: it
settles what it may have lost, settles twice, and hands back for no reason. It is killed and stopped
at will.
"""

from __future__ import annotations

import asyncio
import signal
from collections import defaultdict
from random import Random
from typing import TYPE_CHECKING

from skitter.frontier import Fetch, Frontier, Lease, Request, Settlement, lane_of
from skitter.frontier.lease import boot_ms
from tests.chaos.history import History
from tests.chaos.orders import JOB, LEASE_MS, SPIDER, Order
from tests.chaos.plants import install
from tests.chaos.web import TinyWeb

if TYPE_CHECKING:
    from collections.abc import Sequence

IN_HAND = 10
MARGIN_MS = 150
TIMEOUT_S = 0.4


async def run_client(order: Order) -> None:
    """Work until told to end."""
    history = History(f"{order.folder}/{order.worker}.history", order.worker)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    install(order.plant, skewed=order.skewed)
    try:
        async with await Frontier.connect(
            order.url, worker=order.worker, timeout_s=TIMEOUT_S
        ) as frontier:
            if order.reap:
                sent = history.note("reap?", of=order.reap)
                history.note(
                    "reap", of=order.reap, sent=sent, taken=await frontier.reap(order.reap)
                )
            await Client(frontier, history, order).run(stop)
    except Exception as error:
        history.note("crash", error=repr(error))
        raise


class Client:
    def __init__(self, frontier: Frontier, history: History, order: Order) -> None:
        self._frontier = frontier
        self._history = history
        self._web = TinyWeb(order.seed)
        self._roll = Random(order.worker + str(order.seed))
        self._held: dict[str, Lease] = {}
        self._stop = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        self._stop = stop
        async with asyncio.TaskGroup() as tasks:
            renewing = tasks.create_task(self._keep())
            working: list[asyncio.Task[None]] = []
            while not stop.is_set():
                working = [task for task in working if not task.done()]
                leases, retry_ms = await self._lease()
                working += [tasks.create_task(self._work(b)) for b in self._batches(leases)]
                if not leases:
                    await self._pause(min(retry_ms, 20))
            if working:
                await asyncio.wait(working)
            renewing.cancel()

    async def _pause(self, ms: float) -> None:
        try:
            await asyncio.wait_for(self._stop.wait(), ms / 1000)
        except TimeoutError:
            return

    async def _lease(self) -> tuple[list[Lease], int]:
        room = IN_HAND - len(self._held)
        if room <= 0:
            return [], 5
        sent = self._history.note("lease?")
        found = await self._frontier.lease([lane_of(SPIDER)], count=self._roll.randint(1, room))
        rows = [[lease.token, lease.request.url] for lease in found.leases]
        self._history.note("lease", sent=sent, granted=rows)
        self._held.update((lease.token, lease) for lease in found.leases)
        return found.leases, found.retry_ms

    @staticmethod
    def _batches(leases: Sequence[Lease]) -> list[list[Lease]]:
        """A host with a delay has its batch in one task; elsewhere each request has its own."""
        batches: dict[str, list[Lease]] = defaultdict(list)
        for lease in leases:
            batches[lease.host if lease.delay_ms else lease.token].append(lease)
        return list(batches.values())

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(LEASE_MS / 4000)
            leases = list(self._held.values())
            if not leases:
                continue
            sent = self._history.note("renew?")
            answers = await self._frontier.renew(leases)
            kept = [
                lease.token
                for lease, said in zip(leases, answers, strict=True)
                if said.answer == "kept"
            ]
            self._history.note("renew", sent=sent, kept=kept)

    async def _work(self, batch: list[Lease]) -> None:
        next_ms = 0.0
        for lease in batch:
            while (wait_ms := next_ms - boot_ms()) > 0:
                await asyncio.sleep(wait_ms / 1000)
            head_ms = await self._visit(lease)
            if head_ms:
                next_ms = head_ms + lease.delay_ms
            self._held.pop(lease.token, None)

    async def _visit(self, lease: Lease) -> float:
        """When the head came; 0 if nothing was sent."""
        url = lease.request.url
        latency_ms = self._web.latency_ms(url)
        checked = boot_ms()
        if self._roll.random() < 0.03 or not self._frontier.fresh(lease, margin_ms=MARGIN_MS):
            await self._release(lease)
            return 0.0
        self._history.note("write", url=url, host=lease.host, checked=checked, ms=latency_ms)
        await asyncio.sleep(latency_ms / 1000)
        head_ms = boot_ms()
        if self._roll.random() < 0.4:
            await self._give_turn_back(lease, head_ms)
            await asyncio.sleep(self._roll.choice((0.0, 0.01, 0.05)))
            await self._settle(lease, None)
        else:
            await self._settle(lease, head_ms)
        return head_ms

    async def _give_turn_back(self, lease: Lease, head_ms: float) -> None:
        sent = self._history.note("fetched?", token=lease.token)
        fetch = Fetch(ago_ms=boot_ms() - head_ms, latency_ms=5, status=200)
        [ok] = await self._frontier.fetched([(lease, fetch)])
        self._history.note("fetched", sent=sent, token=lease.token, ok=ok)

    async def _settle(self, lease: Lease, head_ms: float | None) -> None:
        url = lease.request.url
        fate = self._web.fate(url, attempts=lease.request.attempts)
        children = [Request(JOB, child) for child in self._web.children(url)]
        again = self._roll.random() < 0.1
        for _ in range(2 if again else 1):
            fetch = None if head_ms is None else Fetch(boot_ms() - head_ms, 5, 200)
            settlement = Settlement(
                lease, outcome=fate, fetch=fetch, page=fate == "done", retry_ms=30, reason=fate,
                children=children if fate == "done" else [],
            )  # fmt: skip
            named = {"token": lease.token, "url": url, "fate": fate}
            sent = self._history.note("settle?", **named)
            [ok] = await self._frontier.settle([settlement])
            self._history.note("settle", sent=sent, ok=ok, **named)

    async def _release(self, lease: Lease) -> None:
        named = {"token": lease.token, "url": lease.request.url}
        sent = self._history.note("release?", **named)
        [ok] = await self._frontier.release([lease])
        self._history.note("release", sent=sent, ok=ok, **named)
