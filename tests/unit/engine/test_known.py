"""Links are forgotten in time, and known only when the server has them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import scrapy

from skitter.engine import known
from skitter.engine.known import KnownLinks
from skitter.frontier import Request

pytestmark = pytest.mark.unit

URL = "http://a.lab/p/1"


def page(*children: Request, accepted: bool = True, over: bool = True) -> Any:
    return SimpleNamespace(
        children=list(children),
        over=over,
        accepted=accepted,
        settlement=SimpleNamespace(children=list(children)),
    )


def knowing(*pages: Any) -> KnownLinks:
    links = KnownLinks()
    links.harvest(1)
    for one in pages:
        links.settled(one)
    links.harvest(1)
    return links


def test_a_link_of_an_accepted_page_is_known_in_its_job() -> None:
    links = knowing(page(Request("j", URL)))
    assert links.has("j", scrapy.Request(URL))
    assert not links.has("other", scrapy.Request(URL))


@pytest.mark.parametrize("state", [{"accepted": False}, {"over": False}])
def test_what_the_server_has_not_taken_is_not_known(state: dict[str, bool]) -> None:
    assert not knowing(page(Request("j", URL), **state)).has("j", scrapy.Request(URL))


def test_a_server_that_came_up_again_may_have_forgotten() -> None:
    links = knowing(page(Request("j", URL)))
    epoch = links.epoch
    links.harvest(2)
    assert not links.has("j", scrapy.Request(URL))
    assert links.epoch is not epoch


def test_it_is_known_by_the_url_as_it_was_written() -> None:
    stored = Request(
        "j", "http://a.lab/s?a=1&b=2", meta={"~scrapy": {"u": "http://a.lab/s?b=2&a=1"}}
    )
    links = knowing(page(stored))
    assert links.has("j", scrapy.Request("http://a.lab/s?b=2&a=1"))
    assert not links.has("j", scrapy.Request("http://a.lab/s?a=1&b=2"))


@pytest.mark.parametrize(
    "request_",
    [
        scrapy.Request(URL, dont_filter=True),
        scrapy.Request(URL, method="POST"),
        scrapy.Request(URL, body=b"x"),
        scrapy.Request(URL, meta={"skitter_spider": "other"}),
        scrapy.FormRequest(URL),
    ],
)
def test_another_request_of_the_same_url_is_not_known(request_: scrapy.Request) -> None:
    assert not knowing(page(Request("j", URL))).has("j", request_)


@pytest.mark.parametrize("fields", [{"method": "POST"}, {"body": b"x"}, {"dont_filter": True}])
def test_only_plain_links_are_remembered(fields: dict[str, Any]) -> None:
    assert not knowing(page(Request("j", URL, **fields))).has("j", scrapy.Request(URL))


def test_links_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("skitter.engine.known.time.monotonic", lambda: now)
    links = knowing(page(Request("j", URL)))
    for forgotten in (False, True):
        now += known.KEPT_S + 1
        links.harvest(1)
        assert links.has("j", scrapy.Request(URL)) is not forgotten
