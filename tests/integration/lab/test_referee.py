"""The referee on real connections: a polite crawler is cleared, every planted rudeness is found."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import aiohttp

from skitter.lab import Fault, Judging, WebSpec
from tests.integration.lab.crawler import Crawler
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from skitter.lab.pytest_plugin import StartLab, StartLabProcess
    from tests.integration.lab.conftest import Client

MIXED = WebSpec(
    hosts=12,
    pages=6,
    links=6,
    delays_ms=(0, 20, 5),
    concurrency=(3,),
    latency_ms=(0, 3),
    faults=(Fault("404", 0.05), Fault("503", 0.1), Fault("reset", 0.1), Fault("truncated", 0.1)),
    redirects=0.2,
    redirect_loops=0.1,
    private_links=0.2,
    traps=0.2,
)


async def test_a_polite_crawler_of_a_mixed_web_is_cleared(
    lab_process: StartLabProcess, client: Client
) -> None:
    web = lab_process(MIXED)
    await Crawler(await client(web), web).crawl(web.url(0))
    verdict = await asyncio.to_thread(web.verdict)
    assert verdict.polite, verdict
    assert verdict.duplicates.count == 0
    assert verdict.retries > 0
    assert verdict.hosts == 12
    assert verdict.tightest_margin_ms is not None
    assert verdict.coverage is not None
    assert verdict.coverage.share == 1.0, verdict.coverage.missing
    assert {"200", "404", "503", "reset", "truncated"} <= set(verdict.statuses)


async def test_a_hasty_crawler_is_found_out(lab: StartLab, client: Client) -> None:
    web = await lab(WebSpec(hosts=2, pages=6, delays_ms=(2000,)))
    await Crawler(await client(web), web, hurry=0.01).crawl(web.url(0))
    verdict = await web.verdict()
    assert verdict.gaps.count == 10
    assert all(20 <= gap["gap_ms"] < 2000 for gap in verdict.gaps.first)
    assert verdict.concurrency.count == 0


async def test_one_early_request_among_many_is_found(lab: StartLab, client: Client) -> None:
    web = await lab(WebSpec(hosts=3, pages=4, delays_ms=(150,)))
    session = await client(web)
    await Crawler(session, web).crawl(web.url(0))
    assert (await web.verdict()).polite
    for path in ("/p/1?a", "/p/1?b"):
        await (await session.get(web.url(1, path))).read()
    assert 1 <= (await web.verdict()).gaps.count <= 2


async def test_two_at_a_time_on_a_host_with_a_delay_are_found(
    lab: StartLab, client: Client
) -> None:
    web = await lab(WebSpec(delays_ms=(10,)))
    session = await client(web)
    await asyncio.gather(*(session.get(web.url(0, f"/slow/300?{n}")) for n in range(2)))
    verdict = await web.verdict()
    assert verdict.concurrency.count == 1
    assert verdict.concurrency.first[0]["in_flight"] == 2


async def test_more_at_a_time_than_allowed_are_found_while_bodies_drip(
    lab: StartLab, client: Client
) -> None:
    web = await lab(WebSpec(concurrency=(2,)))
    session = await client(web)
    answers = [await session.get(web.url(0, f"/drip/3/150?{n}")) for n in range(3)]
    assert (await web.verdict()).concurrency.count == 1
    for answer in answers:
        await answer.read()
    await (await session.get(web.url(0))).read()
    assert (await web.verdict()).concurrency.count == 1


async def test_who_ignores_robots_txt_is_found_out(lab: StartLab, client: Client) -> None:
    web = await lab(WebSpec(hosts=1, pages=10, private_links=1.0))
    await Crawler(await client(web), web, heed_robots=False).crawl(web.url(0))
    verdict = await web.verdict()
    assert verdict.disallowed.count == 10
    assert "/private/" in verdict.disallowed.first[0]["url"]


async def test_what_is_fetched_twice_and_what_is_not_fetched_is_found(
    lab: StartLab, client: Client
) -> None:
    web = await lab(WebSpec(hosts=1, pages=5))
    session = await client(web)
    for path in ("/", "/p/1", "/p/1", "/p/2", "/p/4", "/robots.txt", "/robots.txt"):
        await (await session.get(web.url(0, path))).read()
    verdict = await web.verdict()
    assert [found["url"] for found in verdict.duplicates.first] == [web.url(0, "/p/1")]
    assert verdict.coverage is not None
    assert verdict.coverage.missing == [web.url(0, "/p/3")]
    assert verdict.coverage.share == 0.8


async def test_a_hang_up_is_noticed_while_the_answer_is_being_thought_about(
    lab: StartLab, client: Client
) -> None:
    web = await lab(WebSpec(concurrency=(1,)))
    session = await client(web)
    hasty = asyncio.create_task(session.get(web.url(0, "/slow/60000")))

    async def arrived() -> bool:
        return (await web.verdict(coverage=False)).requests == 1

    await wait_until_async(arrived)
    hasty.cancel()
    await (await session.get(web.url(0))).read()
    verdict = await web.verdict()
    assert verdict.polite
    assert verdict.statuses == {"200": 1, "disconnected": 1}


async def test_a_crawler_that_waits_after_giving_up_is_cleared(
    lab_process: StartLabProcess, client: Client
) -> None:
    spec = WebSpec(hosts=6, pages=5, delays_ms=(60, 0), faults=(Fault("hang", 0.3),))
    web = lab_process(spec)
    session = await client(web, timeout=aiohttp.ClientTimeout(total=0.5))
    await Crawler(session, web).crawl(web.url(0))
    verdict = await asyncio.to_thread(web.verdict)
    assert verdict.polite, verdict
    assert verdict.statuses["disconnected"] > 0
    assert verdict.coverage is not None
    assert verdict.coverage.share == 1.0


async def test_a_hang_up_does_not_excuse_an_early_return(lab: StartLab, client: Client) -> None:
    web = await lab(WebSpec(delays_ms=(5000,)))
    session = await client(web, timeout=aiohttp.ClientTimeout(total=0.3))
    for _ in range(2):
        try:
            await session.get(web.url(0, "/fault/hang"))
        except TimeoutError:
            continue
    assert (await web.verdict()).gaps.count == 1


async def test_a_client_that_tries_again_behind_its_users_back_is_found_out(
    lab: StartLab,
) -> None:
    web = await lab(WebSpec(delays_ms=(1000,)))
    async with aiohttp.ClientSession() as session:
        answer = await session.get(web.url(0, "/fault/reset/1"), proxy=web.proxy)
    assert answer.status == 200
    verdict = await web.verdict()
    assert (verdict.requests, verdict.retries, verdict.gaps.count) == (2, 1, 1)


async def test_exits_with_addresses_of_their_own_have_a_pace_of_their_own(
    lab: StartLab,
) -> None:
    web = await lab(WebSpec(delays_ms=(1000,)), judging=Judging(per_client_address=True))
    for number, address in enumerate(("127.0.0.1", "127.0.0.2", "127.0.0.1")):
        connector = aiohttp.TCPConnector(local_addr=(address, 0))
        async with aiohttp.ClientSession(connector=connector) as session:
            await (await session.get(web.url(0, f"/p/{number}"), proxy=web.proxy)).read()
    gaps = (await web.verdict()).gaps
    assert [found["client"] for found in gaps.first] == ["127.0.0.1"]


async def test_the_desk_answers_over_http(lab: StartLab, client: Client) -> None:
    web = await lab(WebSpec(hosts=2, pages=3), judging=Judging(log=10))
    session = await client(web)
    await (await session.get(web.url(1, "/p/1"))).read()
    verdict = await (await session.get("http://referee.lab/verdict")).json()
    assert (verdict["requests"], verdict["coverage"]["expected"]) == (1, 6)
    quick = await (await session.get(f"{web.proxy}/__referee__/verdict?coverage=0")).json()
    assert quick["coverage"] is None
    assert "polite" in await (await session.get("http://referee.lab/table")).text()
    log = await (await session.get("http://referee.lab/requests")).text()
    assert log.count("\n") == 1
    assert "http://h1.lab/p/1" in log
    graph = await (await session.get("http://referee.lab/graph")).text()
    assert set(graph.split()) == (await web.graph()).pages
    assert (await (await session.get("http://referee.lab/spec")).json())["hosts"] == 2
    assert (await session.get("http://referee.lab/nothing")).status == 404
    await session.post("http://referee.lab/reset")
    assert (await web.verdict()).requests == 0
