"""An ordinary project gives the same items under plain Scrapy and on three workers at once."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.projects.serving import CrawlProcess, SiteProcess
from tests.servers import ServerProcess
from tests.wait import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.acceptance

ITEMS = {
    "quotes": 40 + 4,
    "shelves": 54 + 3,
    "catalogue": 54 + 7,
    "members": 1 + 24,
    "library": 19,
    "scroll": 23,
    "news": 9,
    "pricelist": 14,
    "stockroom": 7,
}
SETTINGS = {"SKITTER_FRONTIER__LEASE_S": "4", "SKITTER_FRONTIER__RENEW_MARGIN_S": "1"}
TIMEOUT_S = 60


@dataclass
class Crew:
    """Workers of one job on the add-on, each a `scrapy crawl` of its own."""

    folder: Path
    site: SiteProcess
    server: str
    stack: ExitStack
    started: int = 0

    def crawl_plainly(self, spider: str) -> Counter[str]:
        """The items that Scrapy gives without the add-on."""
        feed = self.folder / "items.jsonl"
        options = ("-a", f"site={self.site.url}", "-O", str(feed))
        CrawlProcess(spider, *options, log=self.folder / "plain.log").finish(timeout_s=TIMEOUT_S)
        return Counter(_text(json.loads(line)) for line in feed.read_text().splitlines())

    def start(self, spider: str) -> CrawlProcess:
        """One more worker."""
        self.started += 1
        environment = SETTINGS | {
            "SKITTER_REDIS__URL": self.server,
            "SKITTER_ITEMS__SINK": f"sqlite:{self.folder / 'items.db'}",
            "SKITTER_WORKER_ID": f"w{self.started}",
        }
        options = ("-a", f"site={self.site.url}", "-s", f"SKITTER_JOB={spider}")
        addon = ("-s", 'ADDONS={"skitter.addon.Addon": 500}')
        log = self.folder / f"w{self.started}.log"
        crawl = CrawlProcess(spider, *options, *addon, log=log, environment=environment)
        self.stack.callback(crawl.kill)
        return crawl

    def items(self) -> Counter[str]:
        """What is in the sink."""
        with closing(sqlite3.connect(self.folder / "items.db")) as database:
            rows = database.execute("SELECT data FROM items").fetchall()
        return Counter(_text(json.loads(data)) for (data,) in rows)


@pytest.fixture
def site() -> Iterator[SiteProcess]:
    with SiteProcess() as found:
        yield found


@pytest.fixture
def crew(tmp_path: Path, site: SiteProcess) -> Iterator[Crew]:
    with ServerProcess("valkey") as server, ExitStack() as stack:
        yield Crew(tmp_path, site, server.url, stack)


@pytest.mark.parametrize("spider", ITEMS)
def test_three_workers_give_the_items_of_plain_scrapy(spider: str, crew: Crew) -> None:
    expected = crew.crawl_plainly(spider)
    for crawl in [crew.start(spider) for _ in range(3)]:
        crawl.finish(timeout_s=TIMEOUT_S)
    assert crew.items() == expected
    assert expected.total() == ITEMS[spider]


def test_a_login_outlives_the_worker_that_made_it(crew: Crew, site: SiteProcess) -> None:
    expected = crew.crawl_plainly("members")
    site.close_gate()
    logins = site.asked().count("/login")
    first = crew.start("members")
    wait_until(
        lambda: site.asked().count("/members/") > 1, timeout_s=TIMEOUT_S, what="it is logged in"
    )
    first.kill()
    site.open_gate()
    for crawl in [crew.start("members") for _ in range(2)]:
        crawl.finish(timeout_s=TIMEOUT_S)
    assert crew.items() == expected
    assert site.asked().count("/login") == logins + 2, "the form and its answer, once each"


def _text(data: object) -> str:
    return json.dumps(data, sort_keys=True)
