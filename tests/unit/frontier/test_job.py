from __future__ import annotations

import pytest

from skitter.frontier import Job, Scope, lane_of
from skitter.frontier.job import politeness_unit


def refusal(scope: Scope, url: str) -> str:
    return scope.refuses(url, url.split("/")[2])


def test_a_scope_without_bounds_takes_all() -> None:
    assert refusal(Scope(), "https://anything.example/at/all.zip?x=1") == ""


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://example.com/", ""),
        ("https://shop.example.com/", ""),
        ("https://badexample.com/", "domain"),
        ("https://example.com.evil.org/", "domain"),
    ],
)
def test_allowed_domains_take_their_subdomains_alone(url: str, reason: str) -> None:
    assert refusal(Scope(allowed_domains=("example.com",)), url) == reason


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://a.com/x.pdf", "extension"),
        ("https://a.com/x.PDF?page=1", "extension"),
        ("https://a.com/x.pdfs", ""),
        ("https://a.com/x?file=y.pdf", ""),
        ("https://a.com/x.tar.gz", "extension"),
    ],
)
def test_extensions_are_those_of_the_path(url: str, reason: str) -> None:
    assert refusal(Scope(deny_extensions=(".pdf", "tar.gz")), url) == reason


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://a.com/items/1", ""),
        ("https://a.com/shop/1", ""),
        ("https://a.com/items/1/edit", "denied"),
        ("https://a.com/other", "not allowed"),
    ],
)
def test_patterns_are_alternatives_and_denial_goes_first(url: str, reason: str) -> None:
    scope = Scope(allow=("/items/", "/shop|/store"), deny=(r"/edit$",))
    assert refusal(scope, url) == reason


def test_depth_is_bounded_to_the_last() -> None:
    job = Job(id="j", spider="s", max_depth=2)
    answers = [job.refuses("https://a.com/", host="a.com", depth=depth) for depth in (0, 2, 3)]
    assert answers == ["", "", "depth"]


def test_a_job_comes_back_whole() -> None:
    job = Job(
        id="j",
        spider="s",
        args={"category": "books"},
        scope=Scope(allowed_domains=("a.com",), allow=("x",), deny=("y",), deny_extensions=("z",)),
        priority=-3,
        max_pages=5,
        expires_s=1.5,
        delay_s=0.0,
        attrs={"owner": {"team": 1}},
    )
    assert Job.loads(job.dumps()) == job


def test_lanes_are_those_of_spider_and_arguments() -> None:
    assert lane_of("s", {"a": "1", "b": "2"}) == lane_of("s", {"b": "2", "a": "1"})
    assert Job(id="1", spider="s").lane == Job(id="2", spider="s", priority=9).lane == lane_of("s")
    lanes = {lane_of("s"), lane_of("t"), lane_of("s", {"a": "1"}), lane_of("s", {"a": "2"})}
    assert len(lanes) == 4
    assert {len(lane) for lane in lanes} == {8}


def test_a_clock_is_kept_for_the_host_or_its_registered_domain() -> None:
    assert politeness_unit("shop.example.co.uk", "host") == "shop.example.co.uk"
    assert politeness_unit("shop.example.co.uk", "domain") == "example.co.uk"
