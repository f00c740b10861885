"""Runs one spider in a process of its own, from its start to the end of its job.

Ctrl-C and SIGTERM hand back what was not begun, and finish what was; a second one ends at once.
"""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import signal
from typing import TYPE_CHECKING, Any

from skitter.engine.log_lines import join_scrapy_log
from skitter.engine.making import make_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import Settings

    from skitter.engine.engine import Engine

COLLECT_AFTER = (20_000, 20, 50)
SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_spider(
    spider: type[Spider], settings: Settings, *, args: Mapping[str, Any] | None = None
) -> Crawler:
    """Run a spider; its crawler, with the stats, when it has ended."""
    join_scrapy_log()
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(_run(spider, settings, args))


async def _run(spider: type[Spider], settings: Settings, args: Mapping[str, Any] | None) -> Crawler:
    engine = make_engine(spider, settings, args=args)
    _heed_signals(engine)
    await engine.open()
    spare_the_collector()
    await engine.ended()
    return engine.crawler


def spare_the_collector() -> None:
    """What is loaded by now stays; pages come and go by themselves, for few are in cycles."""
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)


def _heed_signals(engine: Engine) -> None:
    loop = asyncio.get_running_loop()
    stopping: list[asyncio.Task[None]] = []

    def stop() -> None:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
        stopping.append(loop.create_task(engine.stop_async()))

    for number in SIGNALS:
        loop.add_signal_handler(number, stop)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's, where there is one."""
    if importlib.util.find_spec("uvloop") is None:
        return None
    import uvloop  # noqa: PLC0415 - it is not there on every system

    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory
