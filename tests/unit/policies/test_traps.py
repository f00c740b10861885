from __future__ import annotations

import time

import pytest

from skitter.policies.traps import KEPT_SHAPES, TrapRules
from skitter.settings import TrapSettings

AWKWARD = [
    "https://a.com/",
    "https://a.com",
    "https://a.com//double//slashes//",
    "https://example.com/2024/02/29/some-long-title-with-2050-in-it/",
    "https://example.com/archive/2001/01/01/01/",
    "https://example.com/1851/09/18/archives/front-page.html",
    "https://tiles.example.com/14/8192/8192.png",
    "https://tiles.example.com/0/0/0.png",
    "https://shop.example/filter/0/0/0/0/0/0/page-2.html",
    "https://shop.example/c/shoes/shoes/red-shoes",
    "https://shop.example/c/home/home/home/",
    "https://docs.example/en/latest/api/org/apache/hadoop/yarn/server/node/linux/resources/a.html",
    "https://git.example/app/-/blob/main/src/main/java/com/example/app/app/core/core/util/A.java",
    "https://git.example/a/a/tree/main/a/a.c",
    "https://search.example/?q=" + "+".join(["word"] * 40),
    "https://shop.example/list?" + "&".join(f"f[{n}]=v" for n in range(25)),
    "https://shop.example/?year=2024&month=12",
    "https://shop.example/models/2050/",
    "https://shop.example/item/2033-9-x",
    "https://shop.example/phone/555/2035/12345",
    "https://a.example/p/203512/11",
    "https://proxy.example/https://a.com/b/c/d/e?x=/1/2/3/4/5/6/7/8/9",
    "https://login.example/sso?return=https%3A%2F%2Fa.com%2Fa%2Fb%2Fa%2Fb%2Fa%2Fb",
    "https://a.com/login?next=/a/b/a/b/a/b/",
    "https://de.wikipedia.example/wiki/Stra%C3%9Fe_(Begriffskl%C3%A4rung)",
    "https://forum.example/viewtopic.php?f=12&t=34567&start=1230&sid=0123456789abcdef",
    "https://news.example/world/europe/world/europe/",
    "https://cdn.example/" + "x" * 1900,
]  # fmt: skip
TRAPS = {
    "trap: long URL": "https://a.com/" + "x" * 2100,
    "trap: many parameters": "https://a.com/?" + "&".join(f"p{n}=1" for n in range(60)),
    "trap: deep path": "https://a.com/" + "/".join(str(n) for n in range(40)),
    "trap: far future": "https://a.com/calendar/2041/07",
    "trap: repeating path": "https://a.com/a/b/a/b/a/b",
}


@pytest.fixture
def rules() -> TrapRules:
    return TrapRules(year=2026)


@pytest.mark.parametrize("url", AWKWARD)
def test_ordinary_sites_are_not_refused(rules: TrapRules, url: str) -> None:
    assert rules.refuses(url, 7) == ""
    assert rules.refuses(url, 1900) == ""


@pytest.mark.parametrize("reason", TRAPS)
def test_traps_are_refused(rules: TrapRules, reason: str) -> None:
    assert rules.refuses(TRAPS[reason], 1) == reason


@pytest.mark.parametrize(
    ("path", "refused"),
    [
        ("a/a/a", False),
        ("a/a/a/a", True),
        ("x/a/a/a/a/y", True),
        ("a/b/a/b", False),
        ("a/b/a/b/a", False),
        ("a/b/a/b/a/b", True),
        ("a/b/a/b/a/b/", True),
        ("x/a/b/c/a/b/c/a/b/c/y?z=1", True),
        ("a/b/c/d/e/a/b/c/d/e/a/b/c/d/e", True),
        ("a/1/a/2/a/3/a/4", False),
        ("1/2/1/2/1/2", False),
        ("page/1/page/1/page/1", True),
    ],
)
def test_repeating_paths(rules: TrapRules, path: str, refused: bool) -> None:
    expected = "trap: repeating path" if refused else ""
    assert rules.refuses(f"https://a.com/{path}", 1) == expected


def test_an_endlessly_deep_path_ends(rules: TrapRules) -> None:
    url, links = "https://h0.lab/a", 0
    while not rules.refuses(url, links):
        url, links = f"{url}/a", links + 1
    assert links == 3


@pytest.mark.parametrize(
    ("url", "refused"),
    [
        ("https://a.com/2031/12/01", False),
        ("https://a.com/2032/01", True),
        ("https://a.com/2399-12-31", True),
        ("https://a.com/?date=2040-2-1", True),
        ("https://a.com/?year=2040&month=2", True),
        ("https://a.com/2032/13", False),
        ("https://a.com/2032/1a", False),
        ("https://a.com/9999/12", False),
    ],
)
def test_dates_in_the_far_future(rules: TrapRules, url: str, refused: bool) -> None:
    assert rules.refuses(url, 1) == ("trap: far future" if refused else "")


@pytest.mark.parametrize("year", [2026, 2029, 2030, 2093, 2094, 2095, 2150])
def test_the_future_begins_after_the_years_allowed(year: int) -> None:
    rules = TrapRules(year=year)
    first = min(year + 6, 2099)
    assert rules.refuses(f"https://a.com/{first}/01", 1)
    assert not rules.refuses(f"https://a.com/{first - 1}/01", 1)


def test_an_endless_sequence_is_ended_by_its_depth() -> None:
    rules = TrapRules(TrapSettings(max_run=100), year=2026)
    depth = 0
    while not (reason := rules.refuses(f"https://a.com/events?offset={depth}", depth)):
        depth += 1
    assert (reason, depth) == ("trap: endless sequence", 202)
    assert rules.refuses("https://a.com/other/1", depth) == ""
    off = TrapRules(TrapSettings(max_run=0), year=2026)
    assert not any(off.refuses(f"https://a.com/events?offset={n}", n) for n in range(0, 10**6, 999))


def test_shapes_are_bounded() -> None:
    rules = TrapRules(TrapSettings(max_run=1), year=2026)
    for n in range(KEPT_SHAPES + 100):
        rules.refuses(f"https://a.com/{'x' * (n % 200)}-{chr(97 + n // 200)}/1", 5)
    assert len(rules._shapes) <= KEPT_SHAPES


def test_depth_is_bounded_if_asked() -> None:
    rules = TrapRules(TrapSettings(max_depth=3), year=2026)
    assert [rules.refuses("https://a.com/", depth) for depth in (3, 4)] == ["", "trap: depth"]
    assert TrapRules(TrapSettings(max_depth=0)).refuses("https://a.com/", 1)


def test_it_costs_next_to_nothing(rules: TrapRules) -> None:
    """A few µs at most on any machine; the usual is under one."""
    urls = [url for url in AWKWARD if len(url) < 200]
    best = min(_seconds(rules, urls) for _ in range(5))
    assert best / len(urls) / 200 < 20e-6


def _seconds(rules: TrapRules, urls: list[str]) -> float:
    begun = time.perf_counter()
    for _ in range(200):
        for url in urls:
            rules.refuses(url, 5)
    return time.perf_counter() - begun
