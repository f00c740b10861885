"""What becomes of a request, one test for each way it can end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from skitter.lab import WebSpec
from tests.integration.addon.conftest import share

if TYPE_CHECKING:
    from pathlib import Path

    from skitter.frontier import Frontier
    from skitter.frontier.stats import JobStats
    from tests.integration.addon.conftest import StartBench

pytestmark = pytest.mark.integration

SMALL = WebSpec(hosts=1, pages=5, links=0)
START = 1
"""The run of start() counts as a request."""


async def settled(frontier: Frontier) -> JobStats:
    stats = await frontier.stats.job("j")
    assert stats.pending == 0, stats
    return stats


async def letters(frontier: Frontier) -> list[tuple[str, str, str]]:
    """Path, reason and error of all dead letters."""
    found = await frontier.dead.find(job="j")
    return [
        (letter.request.url.removeprefix("http://h0.lab"), letter.reason, letter.error)
        for letter in found
        if letter.request
    ]


@pytest.mark.parametrize("reactor", [True, False])
async def test_success_is_done_with_its_items(
    bench: StartBench, frontier: Frontier, reactor: bool
) -> None:
    one = bench(SMALL)
    outcome = one.run("One", TWISTED_REACTOR_ENABLED=reactor)
    assert outcome.reason == "finished"
    (item,) = one.items()
    assert item.data == {"url": "http://h0.lab/", "status": 200}
    assert (item.job, item.spider, item.url, item.kind) == ("j", "one", "http://h0.lab/", "dict")
    stats = await settled(frontier)
    assert (stats.done, stats.buried, stats.pages) == (START + 1, 0, 1)
    assert stats.figures["items"] == 1
    assert stats.figures["status_2xx"] == 1
    assert (await frontier.jobs.record("j")).outcome == "finished"


async def test_children_are_crawled_once(bench: StartBench, frontier: Frontier) -> None:
    one = bench(WebSpec(hosts=3, pages=8, links=6))
    one.run("Links")
    verdict = one.lab.verdict()
    assert verdict.polite
    assert share(verdict) == 1.0
    assert verdict.duplicates.count == 0
    assert {item["url"] for item in one.data()} == one.lab.expected()
    stats = await settled(frontier)
    assert stats.pages == len(one.data()) == 24


async def test_a_callback_that_raises_is_buried_and_keeps_what_it_gave(
    bench: StartBench, frontier: Frontier
) -> None:
    one = bench(SMALL)
    outcome = one.run("Raises")
    assert await letters(frontier) == [("/", "callback", "ValueError: the callback failed")]
    assert sorted(item["url"] for item in one.data()) == ["http://h0.lab/", "http://h0.lab/p/1"]
    assert (await settled(frontier)).figures["spider_errors"] == 1
    assert outcome.stats["spider_exceptions/ValueError"] == 1


async def test_a_callback_that_raises_is_retried_if_the_policy_says(
    bench: StartBench, frontier: Frontier
) -> None:
    one = bench(SMALL)
    one.run("RaisesOnce", skitter={"retry.attempts": "callback=3"})
    stats = await settled(frontier)
    assert (stats.retries, stats.buried) == (1, 0)
    assert stats.accepted == START + 2, "the unfiltered child of the second run is the same one"


async def test_an_item_that_fails_is_retried_then_buried_and_the_rest_is_kept(
    bench: StartBench, frontier: Frontier
) -> None:
    one = bench(SMALL)
    outcome = one.run("BadItem", skitter={"retry.attempts": "item=2"})
    stats = await settled(frontier)
    assert (stats.retries, stats.buried, stats.figures["item_errors"]) == (1, 1, 2)
    assert await letters(frontier) == [("/", "item", "ValueError: the pipeline failed")]
    assert one.data() == [{"take": "good", "seen": True}], "the replayed item is the same one"
    assert outcome.stats["item_dropped_count"] == 2


async def test_a_redirect_is_a_child(bench: StartBench, frontier: Frontier) -> None:
    one = bench(SMALL)
    one.run("One", args={"path": "/hops/2"})
    stats = await settled(frontier)
    assert stats.figures["redirects"] == 2
    assert (stats.done, stats.pages) == (START + 3, 1)
    assert len(one.data()) == 1


async def test_too_many_redirects_are_buried(bench: StartBench, frontier: Frontier) -> None:
    one = bench(SMALL)
    one.run("One", args={"path": "/hops/5"}, REDIRECT_MAX_TIMES=2)
    stats = await settled(frontier)
    assert (stats.figures["redirects"], stats.buried, stats.pages) == (2, 1, 0)
    assert [reason for _, reason, _ in await letters(frontier)] == ["redirects"]


async def test_a_status_that_passes_is_retried(bench: StartBench, frontier: Frontier) -> None:
    one = bench(SMALL)
    one.run("One", args={"path": "/fault/500/2"})
    stats = await settled(frontier)
    assert (stats.retries, stats.buried, stats.pages) == (2, 0, 1)
    assert one.lab.verdict().retries == 0 or one.data()


async def test_retry_after_is_waited_for(bench: StartBench, frontier: Frontier) -> None:
    one = bench(SMALL)
    one.run("One", args={"path": "/fault/503/1"})
    assert (await settled(frontier)).retries == 1
    assert one.lab.verdict().polite
    assert len(one.data()) == 1


async def test_a_status_that_lasts_is_buried(bench: StartBench, frontier: Frontier) -> None:
    one = bench(SMALL)
    one.run("One", args={"path": "/fault/502"}, skitter={"retry.max_attempts": 2})
    stats = await settled(frontier)
    assert (stats.retries, stats.buried, stats.pages) == (1, 1, 0)
    assert await letters(frontier) == [("/fault/502", "http 502", "HTTP 502")]


async def test_a_status_that_the_spider_handles_is_a_page(
    bench: StartBench, frontier: Frontier
) -> None:
    one = bench(SMALL)
    one.run("Handles", args={"path": "/fault/502"}, skitter={"retry.max_attempts": 2})
    stats = await settled(frontier)
    assert (stats.retries, stats.buried, stats.pages) == (1, 0, 1)
    assert [item["status"] for item in one.data()] == [502]


async def test_a_page_that_is_not_there_is_done(bench: StartBench, frontier: Frontier) -> None:
    one = bench(SMALL)
    one.run("One", args={"path": "/fault/404"})
    stats = await settled(frontier)
    assert (stats.done, stats.pages, stats.figures["status_4xx"]) == (START + 1, 0, 1)
    assert not one.data()


async def test_dont_retry_is_honoured(bench: StartBench, frontier: Frontier) -> None:
    one = bench(SMALL)
    one.run("One", args={"path": "/fault/500"}, RETRY_ENABLED=False)
    stats = await settled(frontier)
    assert stats.retries == 0


async def test_an_errback_runs_for_what_the_spider_does_not_take(
    bench: StartBench, frontier: Frontier
) -> None:
    one = bench(SMALL)
    one.run("WithErrback", args={"path": "/fault/404"})
    stats = await settled(frontier)
    assert (stats.done, stats.buried) == (START + 2, 0)
    assert {"failed": "HttpError"} in one.data()
    assert len(one.data()) == 2, "the errback's request was crawled"


async def test_a_connection_that_breaks_is_retried_then_buried_after_its_errback(
    bench: StartBench, frontier: Frontier
) -> None:
    one = bench(SMALL)
    one.run("WithErrback", args={"path": "/fault/reset"}, skitter={"retry.max_attempts": 2})
    stats = await settled(frontier)
    assert (stats.retries, stats.buried) == (1, 1)
    ((path, reason, _),) = await letters(frontier)
    assert (path, reason) == ("/fault/reset", "reset")
    assert len(one.data()) == 2


async def test_an_errback_that_raises_is_buried(bench: StartBench, frontier: Frontier) -> None:
    one = bench(SMALL)
    one.run("BadErrback", args={"path": "/fault/404"})
    assert await letters(frontier) == [("/fault/404", "callback", "ValueError: the errback failed")]


async def test_a_timeout_is_retried(bench: StartBench, frontier: Frontier) -> None:
    one = bench(SMALL)
    one.run(
        "One",
        args={"path": "/fault/hang"},
        DOWNLOAD_TIMEOUT=0.3,
        skitter={"retry.max_attempts": 2},
    )
    ((_, reason, _),) = await letters(frontier)
    assert reason == "timeout"
    assert (await settled(frontier)).retries == 1


async def test_an_ignored_request_is_done(bench: StartBench, frontier: Frontier) -> None:
    one = bench(SMALL)
    one.run("Ignored")
    stats = await settled(frontier)
    assert (stats.done, stats.figures["ignored"]) == (START + 1, 1)
    assert one.lab.verdict().requests == 0


async def test_what_robots_txt_forbids_is_not_asked(bench: StartBench, frontier: Frontier) -> None:
    one = bench(WebSpec(hosts=1, pages=5, private_links=1.0))
    one.run("Links")
    stats = await settled(frontier)
    assert stats.figures["disallowed"] > 0
    assert one.lab.verdict().polite
    assert share(one.lab.verdict()) == 1.0


async def test_robots_txt_can_be_left_out(bench: StartBench, frontier: Frontier) -> None:
    one = bench(SMALL)
    one.run("One", args={"path": "/private/1"}, ROBOTSTXT_OBEY=False)
    assert one.lab.verdict().disallowed.count == 1
    assert "disallowed" not in (await settled(frontier)).figures


async def test_a_spider_may_retry_by_itself(bench: StartBench, frontier: Frontier) -> None:
    one = bench(SMALL)
    one.run("Retries")
    assert one.data() == [{"times": 2}]
    assert (await settled(frontier)).done == START + 3


async def test_what_cannot_be_stored_is_told_and_its_page_is_a_dead_letter(
    bench: StartBench, frontier: Frontier
) -> None:
    one = bench(SMALL)
    outcome = one.run("Unstorable")
    ((path, reason, error),) = await letters(frontier)
    assert (path, reason) == ("/", "unstorable")
    assert "spider unstorable" in error
    assert "whose callback cannot be stored" in error
    assert "whose meta cannot be stored" in outcome.log
    assert (await settled(frontier)).retries == 0
    assert [item["url"] for item in one.data()] == ["http://h0.lab/p/3"]


async def test_a_scheme_that_is_not_queued_is_told_once(bench: StartBench) -> None:
    one = bench(SMALL)
    outcome = one.run("Local")
    assert outcome.log.count("request refused") == 1
    assert "file is not http or https" in outcome.log
    assert len(one.data()) == 1


async def test_everything_that_a_request_carries_arrives(bench: StartBench) -> None:
    one = bench(SMALL)
    one.run("Travels")
    (item,) = one.data()
    headers = {name.lower(): value for name, value in item["echo"]["headers"].items()}
    assert item["echo"]["method"] == "POST"
    assert "taste=sweet" in headers["cookie"]
    assert (item["number"], item["pair"], item["nested"]) == (7, "(1, 2)", "{'set': {1}}")
    assert (item["priority"], item["flags"]) == (5, ["f"])


async def test_offsite_links_are_dropped(bench: StartBench) -> None:
    one = bench(WebSpec(hosts=2, pages=3))
    outcome = one.run("Offsite")
    assert [item["url"] for item in one.data()] == ["http://h0.lab/", "http://h0.lab/p/1"]
    assert outcome.stats["offsite/filtered"] >= 1


async def test_requests_leave_by_a_proxy(bench: StartBench, frontier: Frontier) -> None:
    one = bench(WebSpec(hosts=2, pages=4, links=4))
    proxies = {"proxies.urls": [one.lab.proxy], "fetch.resolve": []}
    one.run("Links", skitter=proxies)
    assert share(one.lab.verdict()) == 1.0
    assert (await settled(frontier)).buried == 0


async def test_a_proxy_of_another_kind_is_refused(bench: StartBench) -> None:
    one = bench(SMALL)
    args = {"site": one.lab.url(0)}
    ended = one.begin("One", args=args, skitter={"proxies.urls": ["socks5://127.0.0.1:1"]})
    outcome = ended.outcome()
    assert "know no SOCKS proxies" in outcome.log + outcome.error


async def test_user_agents_come_with_their_headers(bench: StartBench, tmp_path: Path) -> None:
    sets = [{"user_agent": "Moth/1", "headers": {"Accept-Language": "eo"}}]
    file = tmp_path / "sets.json"
    file.write_text(json.dumps(sets))
    one = bench(SMALL)
    one.run("Echo", skitter={"identity.file": str(file)})
    (item,) = one.data()
    assert (item["user-agent"], item["accept-language"]) == ("Moth/1", "eo")


async def test_a_kept_response_needs_no_turn(bench: StartBench, frontier: Frontier) -> None:
    one = bench(WebSpec(hosts=1, pages=3, links=3))
    cache: dict[str, Any] = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(one.folder / "cache")}
    one.run("Links", **cache)
    asked = one.lab.verdict().requests
    one.run("Links", SKITTER_JOB="again", **cache)
    assert one.lab.verdict().requests == asked, "robots.txt is known, and pages are kept"
    assert (await frontier.stats.job("again")).pages == 3


async def test_files_are_fetched_at_the_hosts_pace(bench: StartBench, tmp_path: Path) -> None:
    one = bench(WebSpec(hosts=1, pages=4, links=0, delays_ms=(100,)))
    one.run("Files", FILES_STORE=str(tmp_path / "files"), skitter={"politeness.delay_s": 0.1})
    (item,) = one.data()
    assert [file["status"] for file in item["files"]] == ["downloaded", "downloaded"]
    assert one.lab.verdict().polite
