"""Runs a spider in a process of its own, as `scrapy crawl` does: a reactor can run but once.

The fork server has Scrapy and Skitter loaded already, so a crawl begins within a tenth of a second.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import traceback
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.servers.programs import die_with_parent

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

SPIDERS = "tests.integration.addon.spiders"
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    ["tests.integration.addon.spiders", "skitter.addon", "skitter.engine.running", "aiohttp"]
)


@dataclass
class Outcome:
    """How a crawl ended: Scrapy's stats, its log, and what was raised."""

    stats: dict[str, Any] = field(default_factory=dict)
    log: str = ""
    error: str = ""

    @property
    def reason(self) -> str:
        return str(self.stats.get("finish_reason", ""))


class Crawling:
    """A crawl under way."""

    def __init__(
        self,
        spider: str,
        settings: dict[str, Any],
        args: dict[str, str],
        *,
        fast: bool = False,
        module: str = SPIDERS,
    ) -> None:
        self._ours, theirs = CONTEXT.Pipe()
        self._process: BaseProcess = CONTEXT.Process(
            target=_run, args=(theirs, f"{module}.{spider}", settings, args, fast), daemon=True
        )
        self._process.start()
        theirs.close()

    @property
    def pid(self) -> int:
        assert self._process.pid
        return self._process.pid

    def interrupt(self, number: signal.Signals = signal.SIGINT) -> None:
        os.kill(self.pid, number)

    def outcome(self, timeout_s: float = 60) -> Outcome:
        assert self._ours.poll(timeout_s), "the crawl did not end in time"
        outcome: Outcome = self._ours.recv()
        self._process.join(10)
        return outcome

    def kill(self) -> None:
        if self._process.is_alive():
            self._process.kill()
        self._process.join(10)


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname} {self.format(record)}")


def _run(
    pipe: Connection, spider: str, settings: dict[str, Any], args: dict[str, str], fast: bool
) -> None:
    die_with_parent()
    lines = _Lines()
    lines.setLevel(settings.get("LOG_LEVEL", logging.DEBUG))
    logging.root.addHandler(lines)
    outcome = Outcome()
    try:
        crawl = _crawl_fast if fast else _crawl
        outcome.stats = crawl(spider, settings, args)
    except BaseException:  # noqa: BLE001 - told to the test
        outcome.error = traceback.format_exc()
    outcome.log = "\n".join(lines.lines)
    pipe.send(outcome)
    pipe.close()


def _crawl(spider: str, settings: dict[str, Any], args: dict[str, str]) -> dict[str, Any]:
    from scrapy.crawler import AsyncCrawlerProcess  # noqa: PLC0415 - in the child
    from scrapy.utils.misc import load_object  # noqa: PLC0415

    process = AsyncCrawlerProcess(settings | {"LOG_INSTALL_ROOT_HANDLER": False})
    crawler = process.create_crawler(load_object(spider))
    process.crawl(crawler, **args)
    process.start()
    return dict(crawler.stats.get_stats())


def _crawl_fast(spider: str, settings: dict[str, Any], args: dict[str, str]) -> dict[str, Any]:
    from scrapy.settings import Settings  # noqa: PLC0415 - in the child
    from scrapy.utils.log import configure_logging  # noqa: PLC0415
    from scrapy.utils.misc import load_object  # noqa: PLC0415

    from skitter.engine.running import run_spider  # noqa: PLC0415

    configure_logging(settings | {"LOG_INSTALL_ROOT_HANDLER": False})
    crawler = run_spider(load_object(spider), Settings(settings), args=args)
    return dict(crawler.stats.get_stats())
