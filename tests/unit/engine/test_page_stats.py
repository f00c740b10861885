"""Requests and responses weigh what they weigh in Scrapy's stats."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.stats import DownloaderStats
from scrapy.http import Response
from scrapy.statscollectors import MemoryStatsCollector

from skitter.engine.page_stats import PageStats

pytestmark = pytest.mark.unit


def collector() -> Any:
    return MemoryStatsCollector(Crawler(Spider))


@pytest.mark.parametrize(
    "request_",
    [
        Request("http://h0.lab/"),
        Request("http://h0.lab"),
        Request("https://h0.lab:8443/a/b?c=d#e", headers={"A": "b", "C": ["d", "e"]}),
        Request("http://h0.lab/x", method="POST", body="body"),
        Request("http://user:pass@h0.lab/x?y"),
    ],
    ids=lambda request: request.url,
)
def test_requests_weigh_the_same(request_: Request) -> None:
    theirs, ours = collector(), collector()
    DownloaderStats(theirs).process_request(request_)
    PageStats(ours).asked(request_)
    assert ours.get_stats() == theirs.get_stats()


@pytest.mark.parametrize("status", [200, 404, 299])
def test_responses_weigh_the_same(status: int) -> None:
    theirs, ours = collector(), collector()
    headers = {"Content-Type": "text/html", "Set-Cookie": ["a=b", "c=d"]}
    response = Response("http://h0.lab/", status=status, headers=headers, body=b"x" * 100)
    DownloaderStats(theirs).process_response(Request("http://h0.lab/"), response)
    PageStats(ours).answered(response)
    assert ours.get_stats() == theirs.get_stats()


def test_failures_have_the_same_names() -> None:
    theirs, ours = collector(), collector()
    DownloaderStats(theirs).process_exception(Request("http://h0.lab/"), TimeoutError())
    PageStats(ours).failed(TimeoutError())
    assert ours.get_stats() == theirs.get_stats()
