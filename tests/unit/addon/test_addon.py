"""What the add-on sets, what it leaves alone, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
import scrapy
from scrapy.core.downloader import Downloader as ScrapyDownloader
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.cookies import CookiesMiddleware
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.settings import BaseSettings, Settings
from twisted.python.failure import Failure

from skitter.addon import Addon
from skitter.addon.checks import check_classes, check_engine
from skitter.addon.downloader import Downloader
from skitter.addon.handlers import AsyncioHandler, TwistedHandler
from skitter.addon.scheduler import Scheduler
from skitter.engine.cookies import Cookies
from skitter.engine.crawl import Crawl
from skitter.engine.retrying import Retry
from skitter.engine.settling import verdict_of
from skitter.engine.verdicts import TryLater
from skitter.errors import ServerUnavailable, UnsupportedScrapy, UnsupportedSetting

pytestmark = pytest.mark.unit


class Shop(scrapy.Spider):
    name = "shop"


class MyScheduler(Scheduler):
    pass


def settled(**given: Any) -> tuple[Crawler, BaseSettings]:
    """A crawler with what the add-on makes of a project's settings."""
    settings = Settings({"SKITTER_ARGS": {"a": "1"}} | given)
    crawler = Crawler(Shop, settings)
    Addon.from_crawler(crawler).update_settings(crawler.settings)
    return crawler, crawler.settings


def chain(settings: BaseSettings, name: str) -> dict[Any, Any]:
    found = settings.get_component_priority_dict_with_base(name)
    return {scrapy.utils.misc.load_object(key): value for key, value in found.items()}


def test_our_parts_take_their_places() -> None:
    _, settings = settled()
    assert settings["SCHEDULER"] is Scheduler
    assert settings["DOWNLOADER"] is Downloader
    assert settings.getint("CONCURRENT_ITEMS") == 8
    assert settings.getbool("REMOTE_CONTROL_ENABLED") is False
    assert "Skitter" in settings["USER_AGENT"]
    middlewares = chain(settings, "DOWNLOADER_MIDDLEWARES")
    assert middlewares[Retry] == 550
    assert middlewares[Cookies] == 700
    for theirs in (RetryMiddleware, CookiesMiddleware, RobotsTxtMiddleware):
        assert middlewares.get(theirs) is None


def test_a_projects_settings_win() -> None:
    _, settings = settled(CONCURRENT_ITEMS=3, USER_AGENT="me", REMOTE_CONTROL_ENABLED=True)
    assert settings.getint("CONCURRENT_ITEMS") == 3
    assert settings["USER_AGENT"] == "me"
    assert settings.getbool("REMOTE_CONTROL_ENABLED") is True


def test_a_middleware_that_is_off_or_elsewhere_stays_so() -> None:
    path = "scrapy.downloadermiddlewares"
    given = {f"{path}.retry.RetryMiddleware": None, f"{path}.cookies.CookiesMiddleware": 123}
    _, settings = settled(DOWNLOADER_MIDDLEWARES=given)
    middlewares = chain(settings, "DOWNLOADER_MIDDLEWARES")
    assert middlewares.get(Retry) is None
    assert middlewares[Cookies] == 123


def test_handlers_stand_in_for_scrapys_defaults_only() -> None:
    mine = "scrapy.core.downloader.handlers.http2.H2DownloadHandler"
    _, settings = settled(DOWNLOAD_HANDLERS={"https": mine})
    handlers = settings.getwithbase("DOWNLOAD_HANDLERS")
    assert (handlers["http"], handlers["https"]) == (TwistedHandler, mine)
    _, settings = settled(TWISTED_REACTOR_ENABLED=False)
    assert settings.getwithbase("DOWNLOAD_HANDLERS")["http"] is AsyncioHandler


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SCHEDULER", "scrapy.core.scheduler.Scheduler"),
        ("DOWNLOADER", ScrapyDownloader),
    ],
)
def test_what_cannot_work_is_refused(name: str, value: Any) -> None:
    with pytest.raises(UnsupportedSetting, match=f"setting {name} is"):
        settled(**{name: value})


def test_a_scheduler_made_from_ours_is_taken() -> None:
    _, settings = settled(SCHEDULER=MyScheduler)
    assert settings["SCHEDULER"] is MyScheduler


def test_skitters_settings_come_from_the_project_too() -> None:
    crawler, _ = settled(SKITTER={"redis.namespace": "mine"}, DOWNLOAD_DELAY=2, RETRY_TIMES=9)
    crawl = Crawl.of(crawler)
    assert crawl.settings.redis.namespace == "mine"
    assert crawl.settings.retry.max_attempts == 10
    assert crawl.tuning.job["delay_s"] == 2
    assert crawl.args == {"a": "1"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CONCURRENT_REQUESTS_PER_IP", 4),
        ("DUPEFILTER_CLASS", "scrapy.dupefilters.RFPDupeFilter"),
        ("JOBDIR", "crawls/1"),
    ],
)
def test_a_setting_without_effect_is_named(
    caplog: pytest.LogCaptureFixture, name: str, value: Any
) -> None:
    settled(**{name: value})
    assert f"{name} is not used" in caplog.text


def test_this_scrapy_is_one_that_is_known() -> None:
    check_classes()


def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scrapy, "__version__", "2.20.1")
    with pytest.raises(UnsupportedScrapy, match=r"Scrapy 2\.20\.1 .*versions known are 2\.19"):
        check_classes()


def test_a_method_that_is_gone_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(ExecutionEngine, "_handle_downloader_output")
    with pytest.raises(UnsupportedScrapy, match="_handle_downloader_output is gone"):
        check_classes()


def test_a_method_with_other_arguments_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(self: Any, request: Any, slot: Any) -> None: ...

    monkeypatch.setattr(ScrapyDownloader, "_enqueue_request", fetch)
    with pytest.raises(UnsupportedScrapy, match="_enqueue_request takes self, request, slot"):
        check_classes()


def test_an_engine_without_its_slot_is_named() -> None:
    with pytest.raises(UnsupportedScrapy, match="the engine has no _slot"):
        check_engine(object())


def test_trouble_of_our_own_is_no_failure_of_a_page() -> None:
    error = ServerUnavailable(server="s", waited_s=30, reason="gone")
    verdict = verdict_of(Failure(error))  # type: ignore[no-untyped-call]
    assert isinstance(verdict, TryLater)
    assert verdict_of(Failure(ValueError())) is None  # type: ignore[no-untyped-call]
