"""Jobs as `scrapy crawl` has them: joined, shared, closed, handed back."""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING

import pytest

from skitter.frontier import Job, lane_of
from skitter.lab import WebSpec
from tests.integration.addon.conftest import share
from tests.servers import list_keys
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from skitter.frontier import Frontier
    from tests.integration.addon.conftest import Bench, StartBench

pytestmark = pytest.mark.integration

SMALL = WebSpec(hosts=1, pages=5, links=0)
WIDE = WebSpec(hosts=8, pages=25, links=6, latency_ms=(10, 40))


def begin(one: Bench, spider: str, *, times: int = 1, **settings: object) -> list[object]:
    args = {"site": one.lab.url(0)}
    return [one.begin(spider, args=args, **settings) for _ in range(times)]


async def pages(frontier: Frontier, job: str = "j") -> int:
    try:
        return (await frontier.stats.job(job)).pages
    except Exception:  # noqa: BLE001 - it is not there yet
        return 0


async def test_workers_share_a_job_that_nobody_named(bench: StartBench, frontier: Frontier) -> None:
    one = bench(WIDE)
    args = {"site": one.lab.url(0)}
    settings = {"SKITTER_JOB": None, "CONCURRENT_REQUESTS": 2}
    crawls = [one.begin("Links", args=args, **settings) for _ in range(3)]
    ended = [crawl.outcome() for crawl in crawls]
    assert [outcome.reason for outcome in ended] == ["finished"] * 3
    verdict = one.lab.verdict()
    assert (share(verdict), verdict.duplicates.count, verdict.polite) == (1.0, 0, True)
    assert len(one.data()) == 200
    job = f"links-{lane_of('links', args)}-1"
    stats = await frontier.stats.job(job)
    assert (stats.pages, stats.accepted) == (200, 201), "start() ran once"
    assert {item.worker for item in one.items()} > {one.items()[0].worker}, "all took part"


async def test_the_next_crawl_is_another_job(bench: StartBench, frontier: Frontier) -> None:
    one = bench(SMALL)
    for _ in range(3):
        one.run("One", SKITTER_JOB=None)
    prefix = f"one-{lane_of('one', {'site': one.lab.url(0)})}"
    for number in (1, 2, 3):
        assert (await frontier.jobs.record(f"{prefix}-{number}")).outcome == "finished"
    assert len(one.data()) == 3


async def test_what_its_spider_asks_of_a_run_goes_with_the_job(
    bench: StartBench, frontier: Frontier
) -> None:
    bench(SMALL).run("Gated")
    assert (await frontier.jobs.record("j")).declared == {"gates": {"least_items": 7}}


async def test_a_job_that_has_ended_is_said_to_have(bench: StartBench, frontier: Frontier) -> None:
    await frontier.jobs.submit(Job(id="j", spider="one"))
    await frontier.jobs.stop("j")
    one = bench(SMALL)
    outcome = one.run("One")
    assert "job has ended already job='j' outcome='cancelled'" in outcome.log
    assert one.lab.verdict().requests == 0


async def test_an_interrupt_hands_work_back_and_another_goes_on(
    bench: StartBench, frontier: Frontier
) -> None:
    one = bench(WIDE)
    args = {"site": one.lab.url(0)}
    first = one.begin("Links", args=args)
    await wait_until_async(lambda: pages(frontier), timeout_s=30)
    first.interrupt(signal.SIGINT)
    ended = first.outcome(15)
    assert ended.reason == "shutdown", ended
    stats = await frontier.stats.job("j")
    assert stats.leased == 0, "nothing is left to run out"
    assert (await frontier.jobs.record("j")).state == "running"
    one.run("Links")
    verdict = one.lab.verdict()
    assert (share(verdict), verdict.duplicates.count, verdict.polite) == (1.0, 0, True)
    assert len(one.data()) == 200


async def test_a_worker_that_is_killed_loses_nothing(bench: StartBench, frontier: Frontier) -> None:
    one = bench(WIDE)
    short = {"frontier.lease_s": 2, "frontier.renew_margin_s": 0.5}
    args = {"site": one.lab.url(0)}
    first, second = (one.begin("Links", args=args, skitter=short) for _ in range(2))
    await wait_until_async(lambda: pages(frontier), timeout_s=30)
    first.kill()
    assert second.outcome().reason == "finished"
    assert share(one.lab.verdict()) == 1.0
    assert one.lab.verdict().polite
    assert {item["url"] for item in one.data()} == one.lab.expected()
    assert len(one.data()) == 200


async def test_hosts_with_a_delay_are_asked_at_their_pace(bench: StartBench) -> None:
    one = bench(WebSpec(hosts=4, pages=6, links=5, delays_ms=(100,)))
    args = {"site": one.lab.url(0)}
    settings = {"skitter": {"politeness.delay_s": 0.1}}
    crawls = [one.begin("Links", args=args, **settings) for _ in range(2)]
    assert [crawl.outcome().reason for crawl in crawls] == ["finished"] * 2
    verdict = one.lab.verdict()
    assert verdict.polite, verdict
    assert share(verdict) == 1.0


async def test_scrapys_own_delay_is_kept_by_all_workers(bench: StartBench) -> None:
    one = bench(WebSpec(hosts=2, pages=6, links=5, delays_ms=(100,), crawl_delay=False))
    args = {"site": one.lab.url(0)}
    crawls = [one.begin("Links", args=args, DOWNLOAD_DELAY=0.1) for _ in range(2)]
    assert [crawl.outcome().reason for crawl in crawls] == ["finished"] * 2
    assert one.lab.verdict().polite, one.lab.verdict()


async def test_close_spider_stops_the_job(bench: StartBench, frontier: Frontier) -> None:
    one = bench(WIDE)
    outcome = one.run("Closes")
    assert outcome.reason == "enough"
    assert (await frontier.jobs.record("j")).outcome == "cancelled"
    assert len(one.data()) == 1


async def test_an_item_limit_stops_the_job(bench: StartBench, frontier: Frontier) -> None:
    one = bench(WIDE)
    outcome = one.run("Links", CLOSESPIDER_ITEMCOUNT=10)
    assert outcome.reason == "closespider_itemcount"
    assert (await frontier.jobs.record("j")).outcome == "limit reached"
    assert 10 <= len(one.data()) < 200


async def test_a_page_limit_is_exact_over_all_workers(
    bench: StartBench, frontier: Frontier
) -> None:
    one = bench(WIDE)
    args = {"site": one.lab.url(0)}
    crawls = [one.begin("Links", args=args, CLOSESPIDER_PAGECOUNT=30) for _ in range(2)]
    for crawl in crawls:
        crawl.outcome()
    assert (await frontier.jobs.record("j")).outcome == "limit reached"
    assert len(one.data()) <= 30


async def test_many_seeds_and_items_of_start(bench: StartBench, frontier: Frontier) -> None:
    one = bench(WebSpec(hosts=1, pages=40, links=0))
    one.run("Seeds", skitter={"politeness.concurrency": 16})
    stats = await frontier.stats.job("j")
    assert stats.accepted == 1_201
    assert {"from": "start"} in one.data()
    assert len(one.data()) == 1_201


async def test_a_start_that_fails_is_a_dead_letter(bench: StartBench, frontier: Frontier) -> None:
    one = bench(SMALL)
    one.run("BadStart")
    (letter,) = await frontier.dead.find(job="j")
    assert (letter.reason, letter.error) == ("callback", "ValueError: start failed")
    assert len(one.data()) == 1, "what it gave before is crawled"


async def test_a_login_holds_on_every_worker(bench: StartBench, frontier: Frontier) -> None:
    one = bench(WebSpec(hosts=1, pages=3, latency_ms=(30, 60)))
    args = {"site": one.lab.url(0)}
    settings = {"skitter": {"politeness.concurrency": 1}, "CONCURRENT_REQUESTS": 1}
    crawls = [one.begin("Login", args=args, **settings) for _ in range(3)]
    for crawl in crawls:
        assert crawl.outcome().reason == "finished"
    found = {item["url"]: item for item in one.data()}
    assert all(f"http://h0.lab/account/{number}" in found for number in range(1, 6)), found
    assert all(item.get("status", 200) == 200 for item in found.values())
    assert not await frontier.dead.find(job="j")


async def test_inline_downloads_take_a_permit(bench: StartBench, frontier: Frontier) -> None:
    one = bench(WebSpec(hosts=1, pages=3, links=0, delays_ms=(150,)))
    one.run("Inline", skitter={"politeness.delay_s": 0.15})
    assert one.data() == [{"url": "http://h0.lab/", "inner": "http://h0.lab/p/1"}]
    assert one.lab.verdict().polite
    assert (await frontier.stats.job("j")).pending == 0


async def test_a_spider_may_bring_more_when_it_is_idle(
    bench: StartBench, frontier: Frontier
) -> None:
    one = bench(SMALL)
    assert one.run("Idles").reason == "finished"
    assert sorted(item["url"] for item in one.data()) == [
        "http://h0.lab/",
        "http://h0.lab/p/1",
        "http://h0.lab/p/2",
    ]
    assert await frontier.jobs.holds("j") == {}


async def test_a_request_to_another_spider_goes_to_a_job_of_its_own(
    bench: StartBench, frontier: Frontier
) -> None:
    one = bench(SMALL)
    one.run("Sender")
    record = await frontier.jobs.record("j.one")
    assert (record.job.spider, record.state) == ("one", "running")
    (queued,) = await frontier.stats.peek("j.one")
    assert (queued.url, queued.meta) == ("http://h0.lab/p/1", {"note": "hello"})
    ended = one.begin("One", SKITTER_JOB="j.one").outcome()
    assert "http://h0.lab/p/1" in [item["url"] for item in one.data()], ended.log


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"SCHEDULER": "scrapy.core.scheduler.Scheduler"}, "SCHEDULER"),
        ({"DOWNLOADER": "scrapy.core.downloader.Downloader"}, "DOWNLOADER"),
    ],
)
async def test_another_scheduler_is_refused(
    bench: StartBench, settings: dict[str, str], named: str
) -> None:
    one = bench(SMALL)
    outcome = one.begin("One", args=None, **settings).outcome()
    assert f"Remove {named} from the settings" in outcome.log + outcome.error


async def test_a_page_with_cookies_costs_nothing_where_there_are_none(
    bench: StartBench, frontier: Frontier, server_url: str, namespace: str
) -> None:
    one = bench(WebSpec(hosts=2, pages=3, links=3))
    one.run("Links")
    jars = re.compile(rb"%b.*}k:\d" % namespace.encode())
    assert not [key for key in list_keys(server_url) if jars.search(key)]
    assert (await frontier.stats.job("j")).pages == 6
