"""`python -m skitter.worker.child`: what a supervisor starts. Its orders come on stdin.

Scrapy's engine needs Twisted's reactor; it runs on the asyncio loop, uvloop's where there is one.
stdout belongs to the supervisor: what spiders print goes to stderr.
"""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import structlog

from skitter.engine.collecting import resting, spare_the_collector
from skitter.engine.loading import load_parts
from skitter.errors import SkitterError
from skitter.logs import setup_logs
from skitter.worker.lifeline import heed_parents_death, watch_pipe
from skitter.worker.orders import Orders
from skitter.worker.pulse import Pulse

if TYPE_CHECKING:
    from skitter.worker.process import WorkerProcess
    from skitter.worker.project import Project

log = structlog.get_logger(__name__)

OK, FAILED = 0, 1
# They say the same for every lane that opens, or every minute of it.
CHATTY = ("scrapy.crawler", "scrapy.middleware", "scrapy.addons", "scrapy.extensions.logstats",
          "scrapy.core.engine", "scrapy.statscollectors")  # fmt: skip


def main() -> None:
    """A child, from its orders to its exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    orders = Orders.model_validate_json(sys.stdin.buffer.readline())
    heed_parents_death(orders.parent)
    pulse = _take_stdout()
    setup_logs(orders.settings.log, worker=orders.name)
    if orders.settings.log.level != "debug":
        for name in CHATTY:
            logging.getLogger(name).setLevel(logging.WARNING)
    try:
        run(orders, pulse=pulse)
    except SkitterError as error:
        log.error("child cannot work", error=str(error))  # noqa: TRY400 - it says all
        sys.exit(FAILED)
    except Exception:
        log.exception("child failed")
        sys.exit(FAILED)
    sys.exit(OK)


def run(orders: Orders, *, pulse: Pulse) -> None:
    """Load the spiders, and work until told to end."""
    with resting():
        reactor, project = _load(orders)
        from skitter.worker.process import WorkerProcess  # noqa: PLC0415 - as there

    spare_the_collector()
    loop = asyncio.get_event_loop()
    worker = WorkerProcess(orders, project, ready=pulse.ready)
    _heed_signals(loop, worker, grace_s=orders.settings.worker.grace_s)
    beating = loop.create_task(pulse.run())
    working = loop.create_task(worker.run())
    working.add_done_callback(lambda _: reactor.stop())
    reactor.run(installSignalHandlers=False)
    beating.cancel()
    if not working.result():
        # All is handed back; whatever is still running may not hold up the end.
        logging.shutdown()
        os._exit(OK)


def _load(orders: Orders) -> tuple[Any, Project]:
    # Scrapy and Twisted come in only here, and the reactor before the first spider.
    load_parts()
    from skitter.worker.project import Project, load_settings  # noqa: PLC0415

    settings = load_settings()
    reactor = _install_reactor(settings["ASYNCIO_EVENT_LOOP"])
    project = Project(settings)
    project.load(orders.modules, shipped=orders.shipped)
    log.info("spiders loaded", spiders=len(project.spiders), failed=len(project.errors))
    return reactor, project


def _install_reactor(event_loop: str | None) -> Any:
    from scrapy.utils.reactor import install_reactor  # noqa: PLC0415
    from twisted.python.log import PythonLoggingObserver  # noqa: PLC0415

    from skitter.worker.project import REACTOR  # noqa: PLC0415

    if event_loop is None and importlib.util.find_spec("uvloop"):
        event_loop = "uvloop.Loop"
    install_reactor(REACTOR, event_loop)
    PythonLoggingObserver("twisted").start()  # type: ignore[no-untyped-call]
    from twisted.internet import reactor  # noqa: PLC0415

    return reactor


def _heed_signals(
    loop: asyncio.AbstractEventLoop, worker: WorkerProcess, *, grace_s: float
) -> None:
    def drain() -> None:
        loop.call_soon_threadsafe(worker.drain)

    loop.add_signal_handler(signal.SIGTERM, worker.drain)
    watch_pipe(sys.stdin.fileno(), drain=drain, grace_s=grace_s)


def _take_stdout() -> Pulse:
    """Keep the pipe to the supervisor, and send all prints to stderr."""
    pipe = os.dup(1)
    os.dup2(2, 1)
    return Pulse(pipe)


if __name__ == "__main__":
    main()
