"""The same spider under Scrapy's own engine and under ours: equal items, requests and stats."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from skitter.sinks import read_items
from tests.integration.addon.crawling import Crawling
from tests.integration.engine.site import Site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.integration

HERE = "tests.integration.engine.shapes"
PATHS = (
    "/", "/gzip", "/two-gzips", "/torn-gzip", "/deflate", "/br", "/bomb", "/long", "/latin",
    "/meta-charset", "/bom", "/wrong-charset", "/json", "/feed", "/moved", "/moved-relative",
    "/moved-twice", "/moved-badly", "/loop", "/refresh", "/slow-refresh", "/missing", "/teapot",
    "/no-content", "/image", "/echo",
)  # fmt: skip
SPIDERS = ("Rules", "Feed", "Ways", "Requests", "Custom", "Stopping", "Closing", "Handling")
FOLLOWED = ("/", "/base", "/cookie", "/no-referrer", "/refresh")
SETTINGS: dict[str, Any] = {
    "USER_AGENT": "conformance",
    "ROBOTSTXT_OBEY": False,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "INFO",
    "DOWNLOAD_MAXSIZE": 200_000,
    "REDIRECT_MAX_TIMES": 3,
    "CONCURRENT_REQUESTS": 1,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "DOWNLOAD_DELAY": 0,
}
COMPARED = (
    "downloader/", "httpcompression/", "httperror/", "item_", "request_depth", "response_received",
    "spider_exceptions/", "offsite/", "finish_reason", "first/", "heard/", "urllength/",
)  # fmt: skip


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


class Both:
    """Runs a spider on both engines. feeds: ours writes a feed too; else its sink is read."""

    feeds = False

    def __init__(self, site: Site, folder: Path, server_url: str, namespace: str) -> None:
        self._site = site
        self._folder = folder
        self._skitter: dict[str, Any] = {
            "redis.url": server_url,
            "redis.namespace": namespace,
            "items.sink": f"sqlite:{folder}/items.db",
            "politeness.latency_factor": 0,
            "frontier.caretaker_tick_s": 0.1,
        }

    def run(self, spider: str, *, fast: bool, path: str = "/", **settings: Any) -> dict[str, Any]:
        """Items, requests and stats of one engine."""
        self._site.asked.clear()
        file = self._folder / f"{fast}.jsonl"
        feeds = {str(file): {"format": "jsonlines"}} if self.feeds or not fast else {}
        feed = {"FEEDS": feeds, "SKITTER": self._skitter}
        args = {"site": self._site.url, "path": path}
        crawling = Crawling(spider, SETTINGS | feed | settings, args, fast=fast, module=HERE)
        outcome = crawling.outcome()
        assert not outcome.error, outcome.error
        lines = file.read_text().splitlines() if file.exists() else []
        items = [json.loads(line) for line in lines]
        if fast and not items:
            items = [item.data for item in read_items(self._skitter["items.sink"])]
        return {
            "items": sorted(items, key=repr),
            "asked": sorted(map(repr, self._site.asked)),
            "stats": {k: v for k, v in outcome.stats.items() if k.startswith(COMPARED)},
        }


@pytest.fixture
def both(site: Site, tmp_path: Path, server_url: str, namespace: str) -> Both:
    return Both(site, tmp_path, server_url, namespace)


def compare(both: Both, spider: str, **options: Any) -> dict[str, Any]:
    expected = both.run(spider, fast=False, **options)
    found = both.run(spider, fast=True, **options)
    assert found["items"] == expected["items"]
    assert found["asked"] == expected["asked"]
    assert found["stats"] == expected["stats"]
    return found


@pytest.mark.parametrize("path", PATHS)
def test_a_page_gives_the_same(both: Both, path: str) -> None:
    found = compare(both, "Page", path=path)
    assert found["asked"], "the site was asked"


def test_a_feed_has_the_same(both: Both) -> None:
    both.feeds = True
    assert len(compare(both, "Follow")["items"]) == 11


@pytest.mark.parametrize("path", FOLLOWED)
def test_links_are_followed_the_same(both: Both, path: str) -> None:
    assert compare(both, "Follow", path=path)["stats"]["request_depth_max"] > 0


@pytest.mark.parametrize("spider", SPIDERS)
def test_a_spider_of_another_shape_gives_the_same(both: Both, spider: str) -> None:
    found = compare(both, spider, path="/moved" if spider == "Handling" else "/")
    assert found["items"]


def test_cookies_of_a_request_are_kept(both: Both) -> None:
    found = both.run("SharedJar", fast=True)
    assert len(found["items"]) == 7, found
    with_cookie = {item["path"] for item in found["items"] if "a=b" in (item["echo"] or "")}
    assert "/echo?own" in with_cookie


@pytest.mark.parametrize(
    "settings",
    [
        {"COOKIES_ENABLED": False},
        {"REFERER_ENABLED": False},
        {"REFERRER_POLICY": "origin"},
        {"COMPRESSION_ENABLED": False},
        {"METAREFRESH_ENABLED": False},
        {"REDIRECT_ENABLED": False},
        {"DEPTH_PRIORITY": 1, "DEPTH_STATS_VERBOSE": True},
        {"URLLENGTH_LIMIT": 30},
        {"DEFAULT_REQUEST_HEADERS": {"X-Custom": "yes"}},
        {"HTTPAUTH_USER": "u", "HTTPAUTH_PASS": "p", "HTTPAUTH_DOMAIN": None},
        {"DOWNLOADER_STATS": False},
        {"HTTPERROR_ALLOW_ALL": True},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_settings_mean_the_same(both: Both, settings: dict[str, Any]) -> None:
    path = {"METAREFRESH_ENABLED": "/refresh", "REDIRECT_ENABLED": "/moved-relative",
            "COMPRESSION_ENABLED": "/gzip", "HTTPERROR_ALLOW_ALL": "/missing",
            "COOKIES_ENABLED": "/cookie"}.get(next(iter(settings)), "/")  # fmt: skip
    compare(both, "Follow", path=path, **settings)
