"""Dead letters: found, counted, replayed as they are or edited, thrown away."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from skitter.errors import BadRequest
from skitter.frontier import Request, Settlement, dead
from skitter.frontier.completer import Completer
from skitter.service_errors import BadCursor
from tests.contract.frontier.crawl import hosts

if TYPE_CHECKING:
    from tests.contract.frontier.crawl import Crawl


async def bury(crawl: Crawl, *urls: str, reason: str = "http 404", job: str = "j") -> None:
    await crawl.add(*urls, job=job)
    leases = await crawl.lease()
    assert len(leases) == len(urls)
    await crawl.settle(*leases, status=404, outcome="bury", reason=reason, error="gone")


async def test_they_are_found_by_job_reason_and_host_newest_first(crawl: Crawl) -> None:
    for job in ("one", "two"):
        await crawl.job(job)
    await bury(crawl, "https://a.com/1", job="one")
    crawl.clock.step(10)
    await bury(crawl, "https://b.org/2", job="two", reason="dns")
    crawl.clock.step(10)
    await bury(crawl, "https://a.com/3", job="two")
    find = crawl.frontier.dead.find
    times = [letter.at_ms for letter in await find()]
    assert times == sorted(times, reverse=True)
    assert len(times) == 3
    assert [letter.job for letter in await find(job="two")] == ["two", "two"]
    assert [letter.host for letter in await find(reason="dns")] == ["b.org"]
    assert {letter.job for letter in await find(host="a.com")} == {"one", "two"}
    assert len(await find(limit=2)) == 2
    assert await crawl.frontier.dead.count() == {"http 404": 2, "dns": 1}
    assert await crawl.frontier.dead.count(job="one") == {"http 404": 1}


async def test_a_replay_counts_as_accepted_and_starts_clean(crawl: Crawl) -> None:
    await crawl.job(held=True)
    await bury(crawl, *(f"https://{host}/" for host in hosts(5)))
    letters = await crawl.frontier.dead.find()
    assert await crawl.frontier.dead.replay(letters) == [True] * 5
    assert await crawl.frontier.dead.replay(letters) == [False] * 5
    stats = await crawl.frontier.stats.job("j")
    assert (stats.accepted, stats.buried, stats.queued) == (10, 5, 5)
    assert await crawl.frontier.dead.count() == {}
    leases = await crawl.lease()
    assert {(lease.request.attempts, lease.request.crashes) for lease in leases} == {(0, 0)}
    await crawl.settle(*leases)
    assert (await crawl.frontier.stats.job("j")).pending == 0


async def test_a_replayed_request_is_first_in_line(crawl: Crawl) -> None:
    await crawl.job(held=True)
    await bury(crawl, "https://a.com/dead")
    await crawl.add("https://a.com/1", "https://a.com/2")
    await crawl.frontier.dead.replay(await crawl.frontier.dead.find())
    assert await crawl.lease_urls(1) == ["https://a.com/dead"]


async def test_a_replay_may_edit(crawl: Crawl) -> None:
    await crawl.job(held=True)
    await bury(crawl, "https://a.com/old")
    letters = await crawl.frontier.dead.find()

    def edit(request: Request) -> Request:
        return replace(request, url="https://a.com/new?b=2&a=1", headers={"Accept": "*/*"})

    assert await crawl.frontier.dead.replay(letters, edit=edit) == [True]
    [lease] = await crawl.lease()
    assert lease.request.url == "https://a.com/new?a=1&b=2"
    assert lease.request.headers == {"Accept": "*/*"}


async def test_an_edit_cannot_move_a_request_to_another_host(crawl: Crawl) -> None:
    await crawl.job(held=True)
    await bury(crawl, "https://a.com/old")
    letters = await crawl.frontier.dead.find()
    with pytest.raises(BadRequest, match="stays with its host"):
        await crawl.frontier.dead.replay(
            letters, edit=lambda request: replace(request, url="https://b.org/")
        )
    assert len(await crawl.frontier.dead.find()) == 1


async def test_letters_of_an_ended_job_are_kept_but_not_replayed(crawl: Crawl) -> None:
    await crawl.job()
    await bury(crawl, "https://a.com/1")
    await crawl.frontier.jobs.stop("j")
    await crawl.tend(times=2)
    letters = await crawl.frontier.dead.find(job="j")
    assert len(letters) == 1
    assert await crawl.frontier.dead.replay(letters) == [False]
    assert len(await crawl.frontier.dead.find(job="j")) == 1


async def test_a_replay_waits_while_a_completer_decides(crawl: Crawl) -> None:
    """What is replayed into a job that is about to end would be thrown away."""
    await crawl.job()
    await bury(crawl, "https://a.com/1")
    completer = Completer(crawl.frontier)
    record = await crawl.frontier.jobs.record("j")
    assert await completer._close(record, await completer._read(record))
    letters = await crawl.frontier.dead.find(job="j")
    replaying = asyncio.create_task(crawl.frontier.dead.replay(letters))
    await asyncio.wait([replaying], timeout=0.1)
    assert not replaying.done()
    await crawl.frontier.jobs.tell("j")  # the completer decided against it
    assert await replaying == [True]
    assert len(await crawl.lease()) == 1


async def test_discarded_letters_are_gone(crawl: Crawl) -> None:
    await crawl.job()
    await bury(crawl, "https://a.com/1", "https://b.org/2")
    letters = await crawl.frontier.dead.find()
    assert await crawl.frontier.dead.discard(letters[:1]) == [True]
    assert await crawl.frontier.dead.discard(letters) == [False, True]
    assert await crawl.frontier.dead.find() == []
    assert (await crawl.frontier.stats.job("j")).buried == 2


async def test_more_than_a_page_of_letters_is_walked(crawl: Crawl) -> None:
    await crawl.job(held=True)
    await crawl.add(*(f"https://{host}/{n}" for host in hosts(60) for n in range(8)))
    while leases := await crawl.lease():
        settlements = [Settlement(x, outcome="bury", reason="http 410") for x in leases]
        await crawl.frontier.settle(settlements)
    assert await crawl.frontier.dead.count() == {"http 410": 480}
    letters = await crawl.frontier.dead.find(limit=1000)
    assert len({letter.id for letter in letters}) == 480
    assert all(await crawl.frontier.dead.replay(letters))
    assert (await crawl.frontier.stats.job("j")).queued == 480


async def test_letters_are_discarded_part_by_part_as_they_are_found(crawl: Crawl) -> None:
    await crawl.job(held=True)
    await bury_many(crawl, 450)
    some = [part async for part in crawl.frontier.dead.parts(job="j", limit=250)]
    assert sum(map(len, some)) == 250
    found = set()
    async for part in crawl.frontier.dead.parts(job="j"):
        assert len(part) <= 200
        found |= {letter.id for letter in part}
        assert all(await crawl.frontier.dead.discard(part))
    assert len(found) == 450
    assert await crawl.frontier.dead.find() == []


async def bury_many(crawl: Crawl, number: int) -> None:
    """At many hosts, some at the same time and some later."""
    for first in range(0, number, 30):
        names = hosts(30)[: number - first]
        await bury(crawl, *(f"https://{host}/{first}" for host in names))
        crawl.clock.step(first % 2)


async def test_pages_hold_all_letters_once_newest_first(crawl: Crawl) -> None:
    await crawl.job(held=True)
    await bury_many(crawl, 150)
    wanted = sorted(
        await crawl.frontier.dead.find(limit=1000),
        key=lambda one: (one.at_ms, one.id),
        reverse=True,
    )
    assert len(wanted) == 150
    for limit in (1, 7, 50, 150, 200):
        found, after = [], None
        while True:
            page = await crawl.frontier.dead.page(job="j", after=after, limit=limit)
            assert len(page.letters) == limit or page.next is None
            found += page.letters
            after = page.next
            if after is None:
                break
        assert found == wanted, limit


async def test_pages_stay_where_they_are_while_letters_come_and_go(crawl: Crawl) -> None:
    await crawl.job(held=True)
    await bury_many(crawl, 120)
    letters, draw = crawl.frontier.dead, random.Random(5)
    left = {letter.id for letter in await letters.find(limit=1000)}
    met: list[str] = []
    page = await letters.page(limit=10)
    for number in range(1000):
        met += [letter.id for letter in page.letters]
        if page.next is None:
            break
        # The last one of the page goes, for it is the place; so do some before and after it.
        others = await letters.find(limit=1000)
        gone = [page.letters[-1], *draw.sample(others, 4)]
        assert any(await letters.discard(gone))
        left -= {letter.id for letter in gone}
        crawl.clock.step(1)
        await bury(crawl, f"https://new.example/{number}")
        page = await letters.page(after=page.next, limit=10)
    assert page.next is None
    assert len(met) == len(set(met))
    assert left <= set(met)


async def test_a_page_of_few_among_many_is_bounded(
    crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dead, "MOST_LOOKED", 20)
    await crawl.job(held=True)
    await bury(crawl, "https://rare.example/", reason="dns")
    crawl.clock.step(1)
    await bury_many(crawl, 60)
    page = await crawl.frontier.dead.page(reason="dns", limit=5)
    for _ in range(3):
        assert page.letters == []
        page = await crawl.frontier.dead.page(reason="dns", after=page.next, limit=5)
    assert ([letter.host for letter in page.letters], page.next) == (["rare.example"], None)
    with pytest.raises(BadCursor, match="nowhere"):
        await crawl.frontier.dead.page(after="nowhere")
