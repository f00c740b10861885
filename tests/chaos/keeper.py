"""The process of a round that runs the caretaker, and ends when the job has."""

from __future__ import annotations

import asyncio

from skitter.frontier import Caretaker, Frontier
from tests.chaos.history import History
from tests.chaos.orders import JOB, Order
from tests.chaos.plants import install

TICK_S = 0.1


async def run_keeper(order: Order) -> None:
    """Tend the frontier until the job has ended."""
    history = History(f"{order.folder}/{order.worker}.history", order.worker)
    install(order.plant, skewed=order.skewed)
    try:
        async with await Frontier.connect(
            order.url, worker=order.worker, timeout_s=2.0
        ) as frontier:
            caretaker = Caretaker(frontier, tick_s=TICK_S)
            while (await frontier.jobs.record(order.more.get("job", JOB))).state != "ended":
                await caretaker.tend()
                await asyncio.sleep(TICK_S)
            history.note("ended")
            await caretaker.tend()
    except Exception as error:
        history.note("crash", error=repr(error))
        raise
