"""`skitter.Crawl` on the lab: items as they come, start and stop, in and out of a running loop."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import scrapy

import skitter
from skitter.lab import WebSpec
from skitter.service_errors import CannotCrawl
from skitter.sinks import read_items
from tests.wait import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skitter.lab import LabProcess
    from skitter.lab.pytest_plugin import StartLabProcess

pytestmark = pytest.mark.integration

PAGES = WebSpec(hosts=2, pages=8)


class Titles(scrapy.Spider):
    """As one is written in a cell of a notebook: no module has it."""

    name = "titles"

    def parse(self, response: Any, **_: Any) -> Iterator[Any]:
        yield {"url": response.url}
        yield from response.follow_all(css="a")


class Unmakeable(scrapy.Spider):
    name = "unmakeable"

    def __init__(self, **_: Any) -> None:
        raise ValueError("it cannot be made")


@pytest.fixture
def options(server_folder: Path, lab_process: StartLabProcess) -> tuple[LabProcess, dict[str, Any]]:
    lab = lab_process(PAGES)
    settings = {"politeness.delay_s": 0, "fetch.resolve": lab.rule, "worker.heartbeat_s": 0.2}
    return lab, {"settings": settings, "folder": server_folder}


def test_items_come_as_they_are_found(options: tuple[LabProcess, dict[str, Any]]) -> None:
    lab, given = options
    crawl = skitter.Crawl(lab.url(0), spider=Titles, **given)
    found = [item["url"] for item in crawl.run()]
    assert len(found) == len(set(found)) == 16
    assert crawl.wait().outcome == "finished"
    assert crawl.stats().pages == 16
    stored = read_items(f"sqlite:{given['folder']}/items.db", job=crawl.job)
    assert sorted(item.data["url"] for item in stored) == sorted(found)


async def test_it_works_where_a_loop_is_running(
    options: tuple[LabProcess, dict[str, Any]],
) -> None:
    lab, given = options
    assert asyncio.get_running_loop().is_running()
    crawl = skitter.Crawl(lab.url(0), args={"depth": 1}, max_pages=5, **given)
    pages = list(crawl.run())
    assert len(pages) == 5
    assert all(page["title"] for page in pages)
    assert crawl.view().outcome == "limit reached"


def test_started_it_goes_on_by_itself_and_stops_when_told(
    options: tuple[LabProcess, dict[str, Any]],
) -> None:
    lab, given = options
    given["settings"]["politeness.delay_s"] = 0.3
    with skitter.Crawl(lab.url(0), spider=Titles, **given) as crawl:
        wait_until(lambda: crawl.stats().pages >= 2, timeout_s=60)
        assert crawl.view().state == "running"
        with pytest.raises(TimeoutError):
            crawl.wait(0.05)
    assert crawl.wait().outcome == "cancelled"
    assert crawl.stats().pages < 16


def test_who_stops_reading_stops_the_crawl(options: tuple[LabProcess, dict[str, Any]]) -> None:
    lab, given = options
    given["settings"]["politeness.delay_s"] = 0.3
    crawl = skitter.Crawl(lab.url(0), spider=Titles, **given)
    reading = crawl.run()
    next(reading)
    reading.close()  # type: ignore[attr-defined]
    assert crawl.wait().outcome == "cancelled"


def test_a_spider_that_cannot_be_made_says_so(options: tuple[LabProcess, dict[str, Any]]) -> None:
    lab, given = options
    crawl = skitter.Crawl(lab.url(0), spider=Unmakeable, **given)
    with pytest.raises(CannotCrawl, match="it cannot be made"):
        list(crawl.run())
