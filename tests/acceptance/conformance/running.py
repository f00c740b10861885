"""Runs a case under Scrapy's own engine, and under the fast one.

Each engine has a process, in which case after case is run: to start one takes longer than most
cases. Plain Scrapy runs as `AsyncCrawlerRunner` does it, on one reactor for all; the fast engine by
`run_spider`, on a loop for each.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import sqlite3
import sys
import traceback
from contextlib import closing
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from scrapy.settings import Settings
from scrapy.spiderloader import SpiderLoader

from tests.servers.programs import die_with_parent

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        "scrapy.crawler",
        "scrapy.core.downloader.handlers.http11",
        "skitter.engine.running",
        "aiohttp",
    ]
)
TIMEOUT_S = 60
PROJECTS = Path(__file__).parents[2] / "projects"
QUIET = ("skitter", "asyncio", "aiohttp")


@dataclass
class Order:
    """What is to be run: a spider, by its class or by its name in a project, and how."""

    spider: str
    settings: dict[str, Any] = field(default_factory=dict)
    args: dict[str, str] = field(default_factory=dict)
    project: str = ""
    """The module of a project's settings, in a folder that is on the path."""

    @property
    def spider_class(self) -> Any:
        if self.project:
            return SpiderLoader.from_settings(self.all_settings).load(self.spider)
        module, _, name = self.spider.rpartition(".")
        return getattr(import_module(module), name)

    @property
    def all_settings(self) -> Settings:
        """The project's, with ours above them."""
        settings = Settings()
        if self.project:
            settings.setmodule(self.project, "project")
        settings.update(self.settings, "cmdline" if self.project else "project")
        return settings


@dataclass
class Outcome:
    """What a run gave."""

    items: list[str] = field(default_factory=list)
    stats: dict[str, Any] = field(default_factory=dict)
    log: list[tuple[str, str, str]] = field(default_factory=list)
    error: str = ""


class EngineProcess:
    """One engine, ready for case after case."""

    def __init__(self, *, fast: bool) -> None:
        self._ours, theirs = CONTEXT.Pipe()
        self._process = CONTEXT.Process(
            target=_serve_fast if fast else _serve_plain, args=(theirs,), daemon=True
        )
        self._process.start()
        theirs.close()

    def begin(self, case: Order) -> None:
        self._ours.send(case)

    def outcome(self) -> Outcome:
        assert self._ours.poll(TIMEOUT_S), "the case did not end in time"
        outcome: Outcome = self._ours.recv()
        assert not outcome.error, outcome.error
        return outcome

    def close(self) -> None:
        self._process.kill()
        self._process.join(10)


class _Lines(logging.Handler):
    """Keeps what is logged; nothing of it is printed."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[tuple[str, str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        if not record.name.startswith(QUIET):
            self.lines.append((record.name, record.levelname, record.getMessage()))

    def taken(self) -> list[tuple[str, str, str]]:
        taken, self.lines = self.lines, []
        return taken


def _log_to_lines() -> _Lines:
    from scrapy.utils.log import configure_logging  # noqa: PLC0415 - in the child

    die_with_parent()
    sys.path.insert(0, str(PROJECTS / "bookshop"))
    lines = _Lines()
    configure_logging({"LOG_LEVEL": "INFO", "LOG_INSTALL_ROOT_HANDLER": False})
    logging.root.addHandler(lines)
    logging.root.setLevel(logging.INFO)
    return lines


def _serve_plain(pipe: Connection) -> None:
    import asyncio  # noqa: PLC0415 - in the child, as all that follows

    from scrapy.utils.defer import deferred_from_coro  # noqa: PLC0415
    from scrapy.utils.reactor import install_reactor  # noqa: PLC0415

    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from twisted.internet import reactor  # noqa: PLC0415

    from tests.acceptance.conformance.resolving import Here  # noqa: PLC0415

    lines = _log_to_lines()

    async def serve() -> None:
        while case := await asyncio.to_thread(pipe.recv):
            outcome = Outcome()
            try:
                await _crawl_plainly(case, outcome)
            except Exception:  # noqa: BLE001 - told to the test
                outcome.error = traceback.format_exc()
            outcome.log = lines.taken()
            pipe.send(outcome)

    running: Any = reactor
    running.installResolver(Here(running))
    running.callWhenRunning(lambda: deferred_from_coro(serve()))
    running.run()


async def _crawl_plainly(case: Order, outcome: Outcome) -> None:
    from scrapy import signals  # noqa: PLC0415
    from scrapy.crawler import AsyncCrawlerRunner  # noqa: PLC0415

    crawler = AsyncCrawlerRunner(case.all_settings).create_crawler(case.spider_class)

    def scraped(item: Any) -> None:
        outcome.items.append(as_text(ItemAdapter(item).asdict()))

    crawler.signals.connect(scraped, signals.item_scraped)
    await crawler.crawl_async(**case.args)
    outcome.stats = dict(crawler.stats.get_stats())


def _serve_fast(pipe: Connection) -> None:
    from skitter.engine.running import run_spider  # noqa: PLC0415 - in the child

    lines = _log_to_lines()
    run: Callable[..., Any] = run_spider
    while case := pipe.recv():
        outcome = Outcome()
        try:
            crawler = run(case.spider_class, case.all_settings, args=case.args)
            outcome.stats = dict(crawler.stats.get_stats())
            outcome.items = _stored(case.settings["SKITTER"]["items.sink"])
        except Exception:  # noqa: BLE001 - told to the test
            outcome.error = traceback.format_exc()
        outcome.log = lines.taken()
        pipe.send(outcome)


def _stored(sink: str) -> list[str]:
    with closing(sqlite3.connect(sink.removeprefix("sqlite:"))) as database:
        rows = database.execute("SELECT data FROM items").fetchall()
    return [as_text(json.loads(data)) for (data,) in rows]


def as_text(data: Any) -> str:
    return json.dumps(data, sort_keys=True, default=str)
