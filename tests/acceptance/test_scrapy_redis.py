"""A project written for scrapy-redis: the same items when nothing but class paths is changed."""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import redis

from tests.projects.serving import CrawlProcess, SiteProcess
from tests.servers.programs import find_on_path
from tests.wait import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers import ServerProcess

pytestmark = pytest.mark.acceptance

PROJECT = Path(__file__).parents[1] / "projects" / "scrapy_redis_project"
OURS, THEIRS = "skitter.compat.scrapy_redis", "scrapy_redis"
DATABASE = 7


class Stall:
    """The project, the site, and a database of Redis for both."""

    def __init__(self, site: SiteProcess, server: ServerProcess, folder: Path) -> None:
        self.site = site
        self.url = f"{server.url}/{DATABASE}"
        self.redis: Any = redis.Redis.from_url(self.url, decode_responses=True)
        self.stack = ExitStack()
        self._folder = folder
        self._started = 0

    def crawl(self, spider: str, *options: str, package: str = OURS) -> CrawlProcess:
        self._started += 1
        name = f"w{self._started}"
        environment = {
            "BOOKSTALL_FROM": package,
            "BOOKSTALL_REDIS": self.url,
            "SKITTER_ITEMS__SINK": f"sqlite:{self._folder / 'items.db'}",
            "SKITTER_WORKER_ID": name,
        }
        log = self._folder / f"{name}.log"
        crawl = CrawlProcess(spider, *options, log=log, environment=environment, project=PROJECT)
        self.stack.callback(crawl.kill)
        return crawl

    def push(self, key: str, *messages: str) -> None:
        """As an operator does it."""
        arguments = [str(find_on_path("redis-cli")), "-u", self.url, "lpush", key, *messages]
        subprocess.run(arguments, check=True, capture_output=True, timeout=20)

    def items(self, spider: str) -> Counter[str]:
        """What its pipeline wrote."""
        lines = self.redis.lrange(f"{spider}:items", 0, -1)
        return Counter(json.dumps(json.loads(line), sort_keys=True) for line in lines)

    def has(self, spider: str, text: str) -> bool:
        return any(text in item for item in self.items(spider))


@pytest.fixture(scope="module")
def site() -> Iterator[SiteProcess]:
    with SiteProcess() as found:
        yield found


@pytest.fixture
def stall(site: SiteProcess, redis_server: ServerProcess, tmp_path: Path) -> Iterator[Stall]:
    stall = Stall(site, redis_server, tmp_path)
    stall.redis.flushdb()
    yield stall
    stall.stack.close()
    stall.redis.flushdb()
    stall.redis.close()


def test_redis_spider_gives_the_same_items(stall: Stall) -> None:
    idle = ("-s", "MAX_IDLE_TIME_BEFORE_CLOSE=3")
    found = []
    for package, workers in ((THEIRS, 1), (OURS, 2)):
        message = {"url": f"{stall.site.url}/page/1/", "meta": {"said": "aloud"}}
        stall.push("quotes:start_urls", json.dumps(message), f"{stall.site.url}/book/3")
        crawls = [stall.crawl("quotes", *idle, package=package) for _ in range(workers)]
        for crawl in crawls:
            crawl.finish()
        found.append(stall.items("quotes"))
        stall.redis.flushdb()
    assert found[1] == found[0]
    assert found[0].total() == 40 + 4 + 1


def test_redis_crawl_spider_gives_the_same_items(stall: Stall) -> None:
    found = []
    for package, workers in ((THEIRS, 1), (OURS, 2)):
        scores = {f"{stall.site.url}/shelf/{n}/1/": n for n in range(4)}
        stall.redis.zadd("shelves:wanted", scores)
        crawls = [stall.crawl("shelves", package=package) for _ in range(workers)]
        for crawl in crawls:
            crawl.finish()
        found.append(stall.items("shelves"))
        stall.redis.flushdb()
    assert found[1] == found[0]
    assert found[0].total() == 60


def test_scheduler_alone_switches_the_addon_on(stall: Stall) -> None:
    """No Redis spider is there to do it."""
    found = []
    for package in (THEIRS, OURS):
        stall.crawl("plain", "-a", f"site={stall.site.url}", package=package).finish()
        found.append(stall.items("plain"))
        stall.redis.delete("plain:items")
    assert found[1] == found[0]
    assert found[0].total() == 60
    assert stall.redis.keys("*skitter*")


def test_start_url_is_picked_up_while_the_crawl_is_busy(stall: Stall) -> None:
    """The first host is asked slowly; a URL of another host need not wait for it."""
    stall.push("quotes:start_urls", f"{stall.site.url}/page/1/")
    crawl = stall.crawl("quotes", "-s", "DOWNLOAD_DELAY=1", "-s", "ROBOTSTXT_OBEY=0")
    wait_until(lambda: stall.has("quotes", "Saying 0"), timeout_s=30)
    other = stall.site.url.replace("127.0.0.1", "localhost")
    began = time.monotonic()
    stall.push("quotes:start_urls", "42", f"{other}/book/3", '{"method": "GET"}')
    wait_until(lambda: not stall.redis.exists("quotes:start_urls"), timeout_s=10)
    taken_s = time.monotonic() - began
    wait_until(lambda: stall.has("quotes", "Book 3"), timeout_s=30)
    print(f"taken after {taken_s:.2f} s, its item there after {time.monotonic() - began:.2f} s")
    assert not stall.has("quotes", "Saying 35"), "the crawl was not busy"
    assert set(stall.redis.lrange("quotes:start_urls:bad", 0, -1)) == {"42", '{"method": "GET"}'}
    assert crawl.running
    assert "put aside" in crawl.tail()


def test_killed_worker_loses_no_start_url(stall: Stall, tmp_path: Path) -> None:
    omen = tmp_path / "omen"
    omen.touch()
    options = ("-a", f"omen={omen}", "-s", "MAX_IDLE_TIME_BEFORE_CLOSE=6")
    urls = [f"{stall.site.url}/book/{number}" for number in range(5)]
    stall.push("mortal:start_urls", *urls)
    first = stall.crawl("mortal", *options)
    wait_until(lambda: not first.running, timeout_s=30, what="the worker is dead")
    assert not stall.redis.exists("mortal:start_urls"), "it had taken them"
    stall.crawl("mortal", *options).finish()
    assert {f"Book {number}" for number in range(5)} == {
        json.loads(item)["title"] for item in stall.items("mortal")
    }
    assert not stall.redis.keys("mortal:start_urls*")


def test_what_was_seen_stays_seen_with_persist(stall: Stall) -> None:
    options = ("-a", f"site={stall.site.url}", "-s", "SCHEDULER_PERSIST=1")
    stall.crawl("plain", *options).finish()
    stall.crawl("plain", *options).finish()
    assert stall.items("plain").total() == 60
    assert stall.redis.hget("plain:stats", "item_scraped_count") == "60"
    stall.crawl("plain", *options, "-s", "SCHEDULER_FLUSH_ON_START=1").finish()
    assert stall.items("plain").total() == 120


def test_pickles_of_an_old_queue_are_refused(stall: Stall) -> None:
    stall.redis.zadd("quotes:requests", {"a pickle": 0})
    crawl = stall.crawl("quotes")
    wait_until(lambda: not crawl.running, timeout_s=30)
    assert "The Redis key quotes:requests holds 1 requests that scrapy-redis left" in crawl.tail()
    assert stall.redis.exists("quotes:requests")


def test_plain_addon_beside_the_scheduler_is_told_apart(stall: Stall) -> None:
    site = f"site={stall.site.url}"
    crawl = stall.crawl("plain", "-a", site, "-s", 'ADDONS={"skitter.addon.Addon": 500}')
    wait_until(lambda: not crawl.running, timeout_s=30)
    assert 'ADDONS = {"skitter.compat.scrapy_redis.addon.Addon": 500}' in crawl.tail()


def test_pickle_serializer_is_refused(stall: Stall) -> None:
    crawl = stall.crawl("quotes", "-s", f"SCHEDULER_SERIALIZER={OURS}.picklecompat")
    wait_until(lambda: not crawl.running, timeout_s=30)
    assert "A pickle from Redis runs code" in crawl.tail()
