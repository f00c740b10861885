"""scrapy-redis's settings and messages, read without a server."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.http import FormRequest
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

from skitter.compat.scrapy_redis.addon import Addon
from skitter.compat.scrapy_redis.connection import get_redis_from_settings, server_url
from skitter.compat.scrapy_redis.messages import request_of
from skitter.compat.scrapy_redis.options import Options
from skitter.compat.scrapy_redis.pipelines import RedisPipeline
from skitter.compat.scrapy_redis.scheduler import Scheduler
from skitter.compat.scrapy_redis.spiders import RedisSpider
from skitter.engine.crawl import Crawl
from skitter.errors import UnsupportedSetting

pytestmark = pytest.mark.unit

OURS = "skitter.compat.scrapy_redis"
NAMES = (
    "scheduler.Scheduler",
    "dupefilter.RFPDupeFilter",
    "queue.FifoQueue",
    "queue.PriorityQueue",
    "queue.LifoQueue",
    "queue.SpiderQueue",
    "queue.SpiderStack",
    "queue.SpiderPriorityQueue",
    "pipelines.RedisPipeline",
    "stats.RedisStatsCollector",
    "spiders.RedisMixin",
    "spiders.RedisSpider",
    "spiders.RedisCrawlSpider",
    "connection.get_redis",
    "connection.get_redis_from_settings",
    "connection.from_settings",
    "utils.bytes_to_str",
    "defaults.PIPELINE_KEY",
    "get_redis",
)


@pytest.mark.parametrize("name", NAMES)
def test_name_of_scrapy_redis_is_here_too(name: str) -> None:
    assert load_object(f"scrapy_redis.{name}") is not None
    assert load_object(f"{OURS}.{name}") is not None


@pytest.mark.parametrize(
    ("settings", "url"),
    [
        ({}, "redis://localhost:6379"),
        ({"REDIS_HOST": "r", "REDIS_PORT": 7000, "REDIS_DB": 3}, "redis://r:7000?db=3"),
        ({"REDIS_URL": "redis://r:1/2", "REDIS_HOST": "no"}, "redis://r:1/2"),
        ({"REDIS_URL": "redis://r:1", "REDIS_PARAMS": {"password": "a@b"}}, "redis://:a%40b@r:1"),
        ({"REDIS_PARAMS": {"ssl": True, "ssl_cert_reqs": "none"}},
         "rediss://localhost:6379?ssl_cert_reqs=none"),
        ({"REDIS_PARAMS": {"unix_socket_path": "/r.sock", "db": 1}}, "unix:///r.sock?db=1"),
    ],
)  # fmt: skip
def test_redis_settings_name_one_server(settings: dict[str, Any], url: str) -> None:
    assert server_url(Settings(settings)) == url


def test_client_gets_its_parameters() -> None:
    client = get_redis_from_settings(Settings({"REDIS_PARAMS": {"socket_timeout": 1}}))
    assert client.connection_pool.connection_kwargs["socket_timeout"] == 1


def test_message_is_a_bare_url() -> None:
    request = request_of(b" http://a.test/x?b=1\n")
    assert request is not None
    assert (request.url, request.method, request.dont_filter) == (
        "http://a.test/x?b=1",
        "GET",
        True,
    )


def test_message_is_json_with_form_data() -> None:
    message = {"url": "http://a.test/", "method": "post", "meta": {"job": 1}, "name": "a b"}
    request = request_of(json.dumps(message))
    assert isinstance(request, FormRequest)
    assert (request.method, request.body, request.meta) == ("POST", b"name=a+b", {"job": 1})


@pytest.mark.parametrize("data", [b"42", b"[1]", b"no url", b"", b"\xff\xfe"])
def test_message_that_is_neither_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each for a reason of its own
        request_of(data)


def test_message_without_a_url_makes_no_request() -> None:
    assert request_of(b'{"meta": {}}') is None


@pytest.mark.parametrize("module", [f"{OURS}.queue", "scrapy_redis.queue"])
def test_queue_class_says_the_order(module: str) -> None:
    assert not _options(SCHEDULER_QUEUE_CLASS=f"{module}.SpiderQueue").depth_first
    assert _options(SCHEDULER_QUEUE_CLASS=f"{module}.LifoQueue").depth_first


def test_keys_are_the_spiders() -> None:
    options = _options(SCHEDULER_DUPEFILTER_KEY="seen:%(spider)s", SCHEDULER_PERSIST=True)
    assert (options.queue_key, options.dupefilter_key) == ("books:requests", "seen:books")
    assert not options.notes


def test_what_has_no_effect_is_told() -> None:
    options = _options(SCHEDULER_QUEUE_KEY="q", SCHEDULER_DUPEFILTER_KEY="d")
    assert [note.split()[0] for note in options.notes] == [
        "SCHEDULER_QUEUE_KEY",
        "SCHEDULER_DUPEFILTER_KEY",
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SCHEDULER_SERIALIZER", "scrapy_redis.picklecompat"),
        ("SCHEDULER_QUEUE_CLASS", "project.queues.Mine"),
        ("SCHEDULER_IDLE_BEFORE_CLOSE", -1),
        ("SCHEDULER_QUEUE_KEY", "%(job)s"),
    ],
)
def test_setting_that_cannot_be_kept_is_refused(name: str, value: Any) -> None:
    with pytest.raises(UnsupportedSetting, match=name):
        _options(**{name: value})


def test_redis_spider_puts_the_addon_in() -> None:
    class Books(RedisSpider):
        name = "books"

    plain = {"skitter.addon.Addon": 300, "their.Addon": 1}
    assert _addons(Books, {}) == {f"{OURS}.addon.Addon": 500}
    assert _addons(Books, plain) == {f"{OURS}.addon.Addon": 300, "their.Addon": 1}
    assert _addons(Books, {f"{OURS}.addon.Addon": 7}) == {f"{OURS}.addon.Addon": 7}


def test_addon_lays_the_settings_over_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REDIS_URL", raising=False)
    given = {
        "SKITTER_ARGS": {},
        "REDIS_HOST": "r",
        "SCHEDULER_PERSIST": True,
        "SCHEDULER_QUEUE_CLASS": f"{OURS}.queue.LifoQueue",
        "DUPEFILTER_CLASS": f"{OURS}.dupefilter.RFPDupeFilter",
    }
    crawler = Crawler(type("Books", (Spider,), {"name": "books"}), given)
    Addon(crawler).update_settings(crawler.settings)
    crawl = Crawl.of(crawler)
    assert crawl.settings.redis.url == "redis://r:6379"
    assert crawl.tuning.job["dedup"] == "books:dupefilter"
    assert crawler.settings.getint("DEPTH_PRIORITY") == -1
    assert load_object(crawler.settings["SCHEDULER"]) is Scheduler


def test_server_of_skitters_own_is_left_alone() -> None:
    given = {"SKITTER_ARGS": {}, "REDIS_HOST": "r", "SKITTER": {"redis.url": "redis://own"}}
    crawler = Crawler(type("Books", (Spider,), {"name": "books"}), given)
    Addon(crawler).update_settings(crawler.settings)
    assert Crawl.of(crawler).settings.redis.url == "redis://own"


async def test_pipeline_with_its_own_way_runs_in_a_thread() -> None:
    class Mine(RedisPipeline):
        def _process_item(self, item: Any, spider: Any) -> Any:
            return {**item, "thread": threading.current_thread(), "for": spider.name}

    crawler = Crawler(type("Books", (Spider,), {"name": "books"}))
    crawler.spider = Spider("books")
    pipeline = Mine.from_crawler(crawler)
    item = await pipeline.process_item({})
    await pipeline.close_spider()
    assert item["for"] == "books"
    assert item["thread"] is not threading.main_thread()


def _addons(spider: type[RedisSpider], given: dict[str, int]) -> dict[str, int]:
    return dict(Crawler(spider, {"ADDONS": given}).settings.getdict("ADDONS"))


def _options(**settings: Any) -> Options:
    return Options.of(Settings(settings), spider="books")
