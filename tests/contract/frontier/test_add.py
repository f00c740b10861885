"""Adding: canonical URLs, exact dedup in a job's scope, queued in the same step."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from skitter.frontier import Request
from tests.contract.frontier.crawl import hosts, pages

if TYPE_CHECKING:
    from tests.contract.frontier.crawl import Crawl


async def test_what_is_new_is_queued_and_what_was_seen_is_known(crawl: Crawl) -> None:
    await crawl.job()
    urls = [f"https://{host}/{n}" for host in hosts(10) for n in range(5)]
    assert (await crawl.add(*urls)).new == 50
    again = await crawl.add(*urls, "https://www.site0.com/other")
    assert again.known == 50
    assert again.new == 1
    stats = await crawl.frontier.stats.job("j")
    assert (stats.accepted, stats.queued) == (51, 51)


async def test_results_come_in_the_order_of_the_requests(crawl: Crawl) -> None:
    await crawl.job()
    added = await crawl.add(
        "https://a.com/", "ftp://a.com/", "https://b.org/", "https://a.com/", "https://c.net/"
    )
    assert added.results == ["new", "ftp is not http or https", "new", "known", "new"]


async def test_spellings_of_one_address_are_one(crawl: Crawl) -> None:
    await crawl.job()
    added = await crawl.add(
        "https://www.shop.com/a?b=1&a=2",
        "https://www.shop.com/a?a=2&b=1",
        "HTTPS://WWW.Shop.COM:443/a?b=1&a=2#top",
        " https://www.shop.com./a?b=1&a=2 ",
    )
    assert added.results == ["new", "known", "known", "known"]


async def test_scheme_port_method_and_body_tell_requests_apart(crawl: Crawl) -> None:
    await crawl.job()
    url = "https://a.com/form"
    requests = [
        Request("j", url),
        Request("j", "http://a.com/form"),
        Request("j", "https://a.com:8443/form"),
        Request("j", url, method="POST", body=b"x=1"),
        Request("j", url, method="POST", body=b"x=2"),
        Request("j", url, method="HEAD"),
    ]
    assert (await crawl.frontier.add(requests)).new == 6
    assert (await crawl.frontier.add(requests)).known == 6


async def test_a_request_comes_back_as_it_went_in(crawl: Crawl) -> None:
    await crawl.job()
    request = Request(
        "j",
        "http://a.com:8080/form?q=%C3%A9",
        method="POST",
        headers={"Accept": "text/html", "X": ["1", "2"]},
        body=bytes(range(256)),
        callback="parse_item",
        errback="failed",
        depth=3,
        priority=-2,
        meta={"jar": "a", "deep": {"list": [1, 2.5, None, True, b"\xff"]}},
        cb_kwargs={"page": 7},
    )
    await crawl.frontier.add([request])
    [lease] = await crawl.lease()
    assert lease.request == request


async def test_jobs_have_scopes_of_their_own(crawl: Crawl) -> None:
    await crawl.job("one")
    await crawl.job("two")
    assert (await crawl.add("https://a.com/", job="one")).new == 1
    assert (await crawl.add("https://a.com/", job="two")).new == 1


async def test_a_named_scope_is_shared_and_outlives_its_jobs(crawl: Crawl) -> None:
    for name in ("monday", "tuesday"):
        await crawl.job(name, dedup="news")
    assert (await crawl.add("https://a.com/1", job="monday")).new == 1
    assert (await crawl.add("https://a.com/1", job="tuesday")).known == 1
    for name in ("monday", "tuesday"):
        await crawl.frontier.jobs.stop(name)
    await crawl.tend(times=2)
    await crawl.job("wednesday", dedup="news")
    assert (await crawl.add("https://a.com/1", job="wednesday")).known == 1


async def test_a_forgotten_fingerprint_is_new_again(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add("https://a.com/1", "https://a.com/2", "https://b.org/1")
    urls = ["https://a.com/1", "https://b.org/1", "https://b.org/never"]
    assert await crawl.frontier.forget("j", urls) == 2
    added = await crawl.add("https://a.com/1", "https://a.com/2", "https://b.org/1")
    assert added.results == ["new", "known", "new"]


async def test_unfiltered_requests_are_all_new(crawl: Crawl) -> None:
    await crawl.job()
    requests = [Request("j", "https://a.com/", dont_filter=True) for _ in range(3)]
    assert (await crawl.frontier.add(requests)).new == 3
    assert (await crawl.frontier.add(requests)).new == 3


async def test_unfiltered_children_of_a_replayed_parent_are_the_same(crawl: Crawl) -> None:
    await crawl.job()
    parent = Request("j", "https://a.com/list")

    def children() -> list[Request]:
        return [Request("j", "https://a.com/poll", dont_filter=True) for _ in range(2)]

    assert (await crawl.frontier.add(children(), parent=parent)).new == 2
    assert (await crawl.frontier.add(children(), parent=parent)).known == 2
    other = Request("j", "https://a.com/other")
    assert (await crawl.frontier.add(children(), parent=other)).new == 2


async def test_an_unfiltered_child_that_asks_itself_again_goes_on(crawl: Crawl) -> None:
    """A page that polls itself: each round is a request of its own."""
    lease = await crawl.one("https://a.com/poll")
    for _ in range(4):
        child = Request("j", "https://a.com/poll", dont_filter=True)
        assert await crawl.settle(lease, children=[child]) == [True]
        [lease] = await crawl.lease()
    await crawl.settle(lease)
    assert (await crawl.frontier.stats.job("j")).done == 5


async def test_the_start_of_a_job_is_made_once(crawl: Crawl) -> None:
    job = await crawl.job()
    assert (await crawl.frontier.add([Request.start("j")])).new == 1
    assert (await crawl.frontier.add([Request.start("j")])).known == 1
    [lease] = await crawl.lease(jobs=[job])
    assert lease.request.url == "start:"
    await crawl.settle(lease, children=[Request("j", "https://a.com/")])
    assert await crawl.lease_urls() == ["https://a.com/"]


async def test_a_batch_may_be_for_many_jobs_and_hosts(crawl: Crawl) -> None:
    for n in range(5):
        await crawl.job(f"job{n}")
    requests = [
        Request(f"job{n % 5}", f"https://{host}/{n}") for host in hosts(7) for n in range(50)
    ]
    assert (await crawl.frontier.add(requests)).new == 350
    for n in range(5):
        assert (await crawl.frontier.stats.job(f"job{n}")).queued == 70


async def test_workers_that_add_the_same_urls_at_once_add_them_once(crawl: Crawl) -> None:
    await crawl.job()
    others = [await crawl.worker(f"w{n}") for n in range(2, 6)]
    urls = [url for host in hosts(5) for url in pages(host, 120)]
    added = await asyncio.gather(*(worker.add(*urls) for worker in [crawl, *others]))
    assert sum(a.new for a in added) == 600
    assert (await crawl.frontier.stats.job("j")).accepted == 600


async def test_a_request_of_an_unknown_job_does_not_harm_the_others(crawl: Crawl) -> None:
    await crawl.job()
    added = await crawl.frontier.add(
        [Request("j", "https://a.com/"), Request("nobody", "https://a.com/")]
    )
    assert added.results == ["new", "unknown job"]


async def test_nothing_is_added_to_an_ended_job(crawl: Crawl) -> None:
    await crawl.job()
    await crawl.add("https://a.com/1")
    await crawl.frontier.jobs.stop("j")
    added = await crawl.add("https://a.com/2", "https://other.org/")
    assert added.refused == {"job ended": 2}
