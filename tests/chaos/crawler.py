"""A crawler process under the lab's referee: a plain loop on the frontier, killed at will."""

from __future__ import annotations

import asyncio
import signal

from skitter.frontier import Frontier, RetryPolicy, lane_of
from skitter.settings import FetchSettings
from tests.chaos.fetch_loop import crawl
from tests.chaos.history import History
from tests.chaos.orders import SPIDER, Order
from tests.chaos.plants import install

IN_HAND = 24
RETRY = RetryPolicy(max_attempts=8, base_ms=200, max_ms=2000)


async def run_crawler(order: Order) -> None:
    """Crawl until told to end."""
    history = History(f"{order.folder}/{order.worker}.history", order.worker)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    install(order.plant, skewed=False)
    try:
        async with await Frontier.connect(order.url, worker=order.worker) as frontier:
            if order.reap:
                await frontier.reap(order.reap)
            await crawl(
                frontier,
                lanes=[lane_of(SPIDER)],
                fetch=FetchSettings(resolve=(order.more["rule"],)),
                retry=RETRY,
                stop=stop.is_set,
                in_hand=IN_HAND,
            )
    except Exception as error:
        history.note("crash", error=repr(error))
        raise
