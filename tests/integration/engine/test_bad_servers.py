"""Servers that do everything wrong: each failure is told apart, counted, and tried again by policy.

A healthy web is crawled beside them by the same process, to its end and at its pace, and the
process stays small.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from skitter.lab import WebSpec
from tests.integration.addon.conftest import share
from tests.integration.engine.bad_server import BadServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skitter.frontier import Frontier
    from tests.integration.addon.conftest import Bench, StartBench

pytestmark = pytest.mark.integration

ATTEMPTS = 2
MAX_HOPS = 20
RSS_MB = 200
# A name that no resolver takes, so that nobody outside of this machine is asked for it.
NOWHERE = "*.nowhere=-.invalid"
HEALTHY = WebSpec(hosts=3, pages=12, links=6, delays_ms=(0.0, 50.0, 100.0))
BOUNDED: dict[str, Any] = {
    "fetch.max_body_bytes": 1 << 20,
    "retry.max_attempts": ATTEMPTS,
    "politeness.robots": True,
}
AGAIN = {
    "endless-headers": "protocol",
    "endless-header": "protocol",
    "endless-status": "protocol",
    "endless-trailers": "truncated",
    "hangs-up": "reset",
    "resets": "reset",
    "cut-short": "truncated",
    "cut-chunk": "truncated",
    "no-last-chunk": "truncated",
    "bad-chunk": "protocol",
    "negative-length": "protocol",
    "two-lengths": "protocol",
    "garbage": "protocol",
    "no-status": "protocol",
    "huge-status": "protocol",
    "null-header": "protocol",
    "spaced-header": "protocol",
}
NEVER_ENDING = (
    "endless-chunk-size",
    "endless-hints",
    "late-bad-chunk",  # aiohttp closes the connection, and tells nobody
    "silent",
    "slow-body",
    "slow-head",
)
ONCE = {
    "endless-body": "size",
    "endless-chunks": "size",
    "too-long": "size",
    "gzip-bomb": "size",
    "gzip-twice": "size",
    "deflate-bomb": "size",
    "br-bomb": "size",
    "zstd-bomb": "size",
    "goes-on": "redirects",
}


@pytest.fixture(scope="module")
def bad() -> Iterator[BadServer]:
    with BadServer() as server:
        yield server


def visit(
    bench: Bench, bad: BadServer, urls: list[str], *, robots: bool = True, **settings: Any
) -> float:
    """Crawl these URLs and the healthy web; the memory that it took at most, in MB."""
    skitter = BOUNDED | {"fetch.resolve": [*bad.rules, NOWHERE, bench.lab.rule]}
    skitter |= settings.pop("skitter", {})
    args = {"urls": json.dumps([*urls, bench.lab.url(0)]), "robots": ".lab" * (not robots)}
    outcome = bench.run("Everywhere", args=args, skitter=skitter, **settings)
    return float(outcome.stats["rss_mb"])


async def buried(frontier: Frontier) -> dict[str, tuple[str, int]]:
    """Reason and attempts of dead letters, by host."""
    letters = await frontier.dead.find(job="j", limit=1000)
    return {letter.host: (letter.reason, letter.attempts) for letter in letters}


def titles(bench: Bench, host: str) -> dict[str, str]:
    """What was found at a host, by path."""
    items = [item.data for item in bench.items()]
    here = [(urlsplit(item["url"]), item["title"]) for item in items]
    return {url.path: title for url, title in here if url.hostname == host}


def assert_unharmed(bench: Bench) -> None:
    """The healthy web was crawled to its end, and as it wants to be."""
    verdict = bench.lab.verdict()
    assert (share(verdict), verdict.polite) == (1.0, True), verdict


async def test_each_failure_is_told_apart_and_harms_nobody(
    bench: StartBench, bad: BadServer, frontier: Frontier
) -> None:
    one = bench(HEALTHY)
    rss_mb = visit(one, bad, [f"http://{name}.bad/" for name in AGAIN | ONCE])
    wanted = {f"{name}.bad": (reason, ATTEMPTS) for name, reason in AGAIN.items()}
    wanted |= {f"{name}.bad": (reason, 1) for name, reason in ONCE.items()}
    assert await buried(frontier) == wanted
    assert_unharmed(one)
    assert rss_mb < RSS_MB


async def test_answers_that_never_end_time_out(
    bench: StartBench, bad: BadServer, frontier: Frontier
) -> None:
    one = bench(HEALTHY)
    urls = [f"http://{name}.bad/" for name in NEVER_ENDING]
    rss_mb = visit(one, bad, urls, skitter={"fetch.timeout_s": 3})
    wanted = {f"{name}.bad": ("timeout", ATTEMPTS) for name in NEVER_ENDING}
    assert await buried(frontier) == wanted
    assert_unharmed(one)
    assert rss_mb < RSS_MB


async def test_what_follows_a_body_is_no_answer(bench: StartBench, bad: BadServer) -> None:
    one = bench(HEALTHY)
    visit(one, bad, [f"http://more-than-said.bad/{n}" for n in range(8)])
    found = titles(one, "more-than-said.bad")
    assert found
    assert {path for path, title in found.items() if title != path} == set()
    assert_unharmed(one)


async def test_a_redirect_puts_no_header_into_a_request(bench: StartBench, bad: BadServer) -> None:
    one = bench(HEALTHY)
    visit(one, bad, ["http://injects.bad/"])
    assert "injected" not in titles(one, "injects.bad").values()
    assert_unharmed(one)


async def test_a_redirect_loop_ends(bench: StartBench, bad: BadServer, frontier: Frontier) -> None:
    one = bench(HEALTHY)
    visit(one, bad, ["http://loops.bad/"])
    figures = (await frontier.stats.job("j")).figures
    assert figures["redirects"] == 2, "to where it began, which was asked already"
    assert_unharmed(one)


async def test_a_redirect_loop_that_is_not_filtered_is_a_failure(
    bench: StartBench, bad: BadServer, frontier: Frontier
) -> None:
    one = bench(HEALTHY)
    visit(one, bad, ["http://loops.bad/#again"])
    assert await buried(frontier) == {"loops.bad": ("redirects", 1)}
    assert (await frontier.stats.job("j")).figures["redirects"] == MAX_HOPS
    assert_unharmed(one)


@pytest.mark.parametrize("verify", [True, False])
async def test_tls_errors(
    bench: StartBench, bad: BadServer, frontier: Frontier, verify: bool
) -> None:
    one = bench(HEALTHY)
    names = ("plain", "signed", "expired")
    urls = [f"https://{name}.tls/" for name in names]
    visit(one, bad, urls, robots=False, DOWNLOAD_VERIFY_CERTIFICATES=verify)
    failing = names if verify else names[:1]
    assert await buried(frontier) == {f"{name}.tls": ("tls", ATTEMPTS) for name in failing}
    assert_unharmed(one)


async def test_hosts_that_are_not_there(
    bench: StartBench, bad: BadServer, frontier: Frontier
) -> None:
    one = bench(HEALTHY)
    urls = [f"http://h{number}.nowhere/" for number in range(300)]
    rss_mb = visit(one, bad, [*urls, "http://closed.bad2/"], robots=False)
    assert await frontier.dead.count(job="j") == {"dns": 300, "connect": 1}
    assert (await frontier.stats.job("j")).retries == (ATTEMPTS - 1) * 301
    assert_unharmed(one)
    assert rss_mb < RSS_MB


async def test_a_host_whose_robots_txt_cannot_be_had_is_given_up(
    bench: StartBench, bad: BadServer, frontier: Frontier
) -> None:
    one = bench(HEALTHY)
    hurry = {"robots.retry_s": 0.05, "robots.max_attempts": 3}
    visit(one, bad, ["http://h0.nowhere/", "https://plain.tls/"], skitter=hurry)
    reasons = {host: reason for host, (reason, _) in (await buried(frontier)).items()}
    assert reasons == {"h0.nowhere": "robots", "plain.tls": "robots"}
    assert_unharmed(one)
