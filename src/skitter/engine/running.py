"""Runs one spider in a process of its own, from its start to the end of its job.

Ctrl-C and SIGTERM hand back what was not begun, and finish what was; a second one ends at once.
"""

from __future__ import annotations

import asyncio
import importlib.util
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from skitter.engine.collecting import resting, spare_the_collector
from skitter.engine.loading import load_parts, without

with resting():
    load_parts()

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import Settings

    from skitter.engine.engine import Engine

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_spider(
    spider: type[Spider], settings: Settings, *, args: Mapping[str, Any] | None = None
) -> Crawler:
    """Run a spider; its crawler, with the stats, when it has ended."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner, without_reactor():
        return runner.run(_run(spider, settings, args))


@contextmanager
def without_reactor() -> Iterator[None]:
    """Nobody runs Twisted's reactor here: to import it is an error, and no wait without end."""
    # Loaded with Scrapy's parts.
    from scrapy.utils import reactorless  # noqa: PLC0415
    from scrapy.utils.reactor import is_reactor_installed  # noqa: PLC0415

    hook = None if is_reactor_installed() else reactorless.install_reactor_import_hook()
    try:
        yield
    finally:
        if hook:
            reactorless.uninstall_reactor_import_hook(hook)


async def _run(spider: type[Spider], settings: Settings, args: Mapping[str, Any] | None) -> Crawler:
    with resting():
        engine = _make_engine(spider, settings, args)
        _heed_signals(engine)
        await engine.open()
    spare_the_collector()
    await engine.ended()
    return engine.crawler


def _make_engine(
    spider: type[Spider], settings: Settings, args: Mapping[str, Any] | None
) -> Engine:
    """Load the engine, which is most of a start, and make one."""
    with without("rich"):  # structlog would load it, for tracebacks in colour
        import structlog  # noqa: F401, PLC0415 - see above

    from skitter.engine.log_lines import join_scrapy_log  # noqa: PLC0415 - see above
    from skitter.engine.making import make_engine  # noqa: PLC0415

    join_scrapy_log()
    return make_engine(spider, settings, args=args)


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
