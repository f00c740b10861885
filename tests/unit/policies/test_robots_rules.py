from __future__ import annotations

import pytest
from protego import Protego

from skitter.policies.robots import origin_of
from skitter.policies.robots_rules import Known, Memory, RobotsAnswer, Rules

MAX_DELAY_MS = 300_000


def rules(text: str, agent: str = "Skitter/0.1 (+https://example.com)") -> Rules:
    return Rules(Protego.parse(text), agent, max_delay_ms=MAX_DELAY_MS)


@pytest.mark.parametrize(
    ("status", "nothing"),
    [(0, True), (200, False), (204, False), (301, False), (404, False), (429, True), (500, True)],
)
def test_what_tells_nothing_of_the_rules(status: int, nothing: bool) -> None:
    assert RobotsAnswer(status).says_nothing == nothing


def test_a_text_is_cut_at_its_last_whole_line() -> None:
    body = b"User-agent: *\nDisallow: /private\n"
    answer = RobotsAnswer(200, body)
    assert answer.text(len(body)) == body.decode()
    # Cut in its middle the rule would forbid the whole site.
    assert answer.text(body.index(b"private")) == "User-agent: *\n"
    assert RobotsAnswer(200, b"Disallow: /private").text(5) == ""


def test_a_text_need_not_be_clean() -> None:
    body = b"\xef\xbb\xbfUser-agent: *\r\nDisallow: /\xff\0\n"
    text = RobotsAnswer(200, body).text(1000)
    assert text.startswith("User-agent")
    assert not rules(text).allows("https://a.com/%EF%BF%BD")
    assert rules(text).allows("https://a.com/x")


def test_only_a_good_answer_has_a_text() -> None:
    assert RobotsAnswer(404, b"Disallow: /").text(1000) == ""


@pytest.mark.parametrize(
    ("agent", "allowed"),
    [("Skitter/0.1", False), ("my-skitter", True), ("Mozilla (Skitter)", False), ("other", True)],
)
def test_an_agent_is_matched_by_its_token(agent: str, allowed: bool) -> None:
    text = "User-agent: skitter\nDisallow: /x\nUser-agent: *\nAllow: /\n"
    assert rules(text, agent).allows("https://a.com/x") == allowed


@pytest.mark.parametrize(
    ("lines", "delay_ms"),
    [
        ("Crawl-delay: 2.5", 2500),
        ("Crawl-delay: 0", 0),
        ("Crawl-delay: -1", 0),
        ("Crawl-delay: soon", 0),
        ("Crawl-delay: inf", 0),
        ("Crawl-delay: 1e99", MAX_DELAY_MS),
        ("Crawl-delay: 86400", MAX_DELAY_MS),
        ("Request-rate: 1/10", 10_000),
        ("Request-rate: 6/1m", 10_000),
        ("Request-rate: 1/10 0900-1700", 0),
        ("Crawl-delay: 20\nRequest-rate: 1/10", 20_000),
    ],
)
def test_the_delay_that_is_asked_for_within_bounds(lines: str, delay_ms: int) -> None:
    assert rules(f"User-agent: *\n{lines}\n").delay_ms == delay_ms


def test_without_a_text_all_is_allowed() -> None:
    free = Known(1.0).rules("x", max_delay_ms=9)
    assert free.allows("https://a.com/anything")
    assert free.delay_ms == 0


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://a.com/x/y?z=//", "https://a.com"),
        ("http://a.com:8080/", "http://a.com:8080"),
        ("https://a.com", "https://a.com"),
        ("https://a.com?x=/", "https://a.com"),
        ("https://[::1]:9/x", "https://[::1]:9"),
    ],
)
def test_origin_of(url: str, origin: str) -> None:
    assert origin_of(url) == origin


def test_memory_forgets_what_was_used_longest_ago() -> None:
    memory = Memory(origins=2)
    for name in ("a", "b"):
        memory.put(name, Known(100.0))
    assert memory.get("a", 0) is not None
    memory.put("c", Known(100.0))
    assert [name for name in "abc" if memory.get(name, 0)] == ["a", "c"]


def test_memory_is_bounded_by_the_length_of_texts() -> None:
    memory = Memory(chars=100)
    for n in range(10):
        memory.put(str(n), Known(100.0, chars=40))
    assert len(memory) == 2
    memory.put("9", Known(100.0, chars=60))
    assert len(memory) == 2
    memory.put("big", Known(100.0, chars=1000))
    assert len(memory) == 1
    assert memory.get("big", 0) is not None


def test_memory_does_not_give_what_is_stale() -> None:
    memory = Memory()
    memory.put("a", Known(100.0))
    assert memory.get("a", 99.9) is not None
    assert memory.get("a", 100.0) is None
