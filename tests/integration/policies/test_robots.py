"""robots.txt with real servers: asked for once, waited for, obeyed at the pace it asks for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from skitter.frontier import Config, Frontier, Job, Request
from skitter.lab import WebSpec
from skitter.lab.referee import Judging
from skitter.policies.robots import Robots, RobotsAnswer
from skitter.settings import RobotsSettings
from tests.integration.policies.robots_site import PoliteCrawler, client, robots_site
from tests.recount import recount
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from skitter.lab.pytest_plugin import StartLab
    from tests.servers import ServerProcess

    Connect = Callable[..., Awaitable[Frontier]]

AGENT = "Skitter/0.1 (test)"
FORBIDS = "User-agent: skitter\nDisallow: /private\nUser-agent: *\nDisallow: /\n"


class Clock:
    now_ms = 1_000_000

    def __call__(self) -> float:
        return self.now_ms


@pytest.fixture
def server_url(valkey_server: ServerProcess) -> str:
    return valkey_server.url


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def connect(server_url: str, namespace: str) -> AsyncIterator[Connect]:
    """Frontiers of several workers on one server; their counters are right in the end."""
    opened: list[Frontier] = []

    async def one(worker: str = "w1", **options: object) -> Frontier:
        config = Config(delay_ms=0, lease_ms=10_000)
        frontier = await Frontier.connect(
            server_url,
            worker=worker,
            namespace=namespace,
            config=config,
            **options,  # type: ignore[arg-type]
        )
        opened.append(frontier)
        return frontier

    yield one
    assert await recount(opened[0]) == []
    for frontier in opened:
        await frontier.close()


class Answers:
    """A fetch that is given these answers in turn, the last one for ever."""

    def __init__(self, *answers: RobotsAnswer | None) -> None:
        self.script = list(answers)
        self.asked: list[str] = []

    async def __call__(self, url: str) -> RobotsAnswer | None:
        self.asked.append(url)
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


async def test_many_workers_fetch_it_once(connect: Connect) -> None:
    async with robots_site((200, FORBIDS)) as site, client() as session:

        async def fetch(url: str) -> RobotsAnswer:
            async with session.get(url) as response:
                return RobotsAnswer(response.status, await response.read())

        workers = [Robots(await connect(f"w{n}"), agent=AGENT) for n in range(4)]
        found = await asyncio.gather(
            *(robots.rules(site.origin, fetch=fetch) for robots in workers for _ in range(3))
        )
    assert site.asked == ["/robots.txt"]
    for rules in found:
        assert rules is not None
        assert rules.allows(f"{site.origin}/public")
        assert not rules.allows(f"{site.origin}/private/1")


async def test_crawl_delay_paces_all_workers_as_the_referee_sees_it(
    connect: Connect, lab: StartLab
) -> None:
    web = await lab(
        WebSpec(hosts=2, pages=4, delays_ms=(150.0, 0.0), private_links=1.0),
        judging=Judging(log=1000),
    )
    job = Job(id="j", spider="s")
    workers = [await connect(f"w{n}") for n in range(3)]
    await workers[0].jobs.submit(job)
    paths = ["/", "/p/1", "/p/2", "/private/1"]
    await workers[0].add([Request("j", web.url(host, path)) for host in (0, 1) for path in paths])
    async with client(web.rule) as session:
        crawlers = [PoliteCrawler(w, Robots(w, agent=AGENT), session) for w in workers]

        async def all_done() -> bool:
            return (await workers[0].stats.job("j")).done == 8

        ended = asyncio.Event()
        crawling = [asyncio.create_task(c.crawl(job.lane, ended.is_set)) for c in crawlers]
        await wait_until_async(all_done, timeout_s=30)
        ended.set()
        await asyncio.gather(*crawling)
    verdict = await web.verdict(coverage=False)
    assert verdict.polite, verdict.to_json()
    fetched = [*paths[:3], "/robots.txt"]
    assert sorted(entry["url"] for entry in web.requests()) == sorted(
        web.url(host, path) for host in (0, 1) for path in fetched
    )
    disallowed = {url for crawler in crawlers for url in crawler.disallowed}
    assert disallowed == {web.url(0, "/private/1"), web.url(1, "/private/1")}
    assert (await workers[0].hosts.state(web.web.host(0))).crawl_delay_ms == 150


async def test_none_means_that_everything_is_allowed(connect: Connect, lab: StartLab) -> None:
    web = await lab(WebSpec(hosts=1, robots=False))
    robots = Robots(await connect(), agent=AGENT)
    async with client(web.rule) as session:

        async def fetch(url: str) -> RobotsAnswer:
            async with session.get(url) as response:
                return RobotsAnswer(response.status, await response.read())

        rules = await robots.rules("http://h0.lab", fetch=fetch)
    assert rules is not None
    assert rules.allows("http://h0.lab/private/1")
    assert rules.delay_ms == 0


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
async def test_a_client_error_allows_everything_for_an_hour(
    connect: Connect, clock: Clock, status: int
) -> None:
    frontier = await connect(clock=clock)
    robots = Robots(frontier, agent=AGENT, clock=clock)
    fetch = Answers(RobotsAnswer(status, b"User-agent: *\nDisallow: /"))
    rules = await robots.rules("http://a.com", fetch=fetch)
    assert rules is not None
    assert rules.allows("http://a.com/x")
    clock.now_ms += 3_599_000
    await robots.rules("http://a.com", fetch=fetch)
    assert len(fetch.asked) == 1
    clock.now_ms += 1_000
    await robots.rules("http://a.com", fetch=fetch)
    assert len(fetch.asked) == 2


@pytest.mark.parametrize("status", [0, 429, 500, 503, 599])
async def test_no_answer_means_wait_longer_each_time_then_give_up(
    connect: Connect, clock: Clock, status: int
) -> None:
    frontier, other = await connect(clock=clock), await connect("w2", clock=clock)
    settings = RobotsSettings(retry_s=5, max_retry_s=60, max_attempts=3)
    robots = Robots(frontier, agent=AGENT, settings=settings, clock=clock)
    fetch = Answers(RobotsAnswer(status))
    waits, given_up = [], []
    for _ in range(6):
        assert await robots.rules("http://a.com", fetch=fetch) is None
        trouble = robots.trouble("http://a.com")
        assert trouble is not None
        waits.append(trouble.wait_ms // 1000)
        given_up.append(trouble.given_up)
        clock.now_ms += trouble.wait_ms
    assert waits == [5, 10, 20, 40, 60, 60]
    assert given_up == [False, False, True, True, True, True]
    mended = Answers(RobotsAnswer(200, FORBIDS.encode()))
    rules = await Robots(other, agent=AGENT, clock=clock).rules("http://a.com", fetch=mended)
    assert rules is not None
    assert not rules.allows("http://a.com/private")


async def test_the_queue_of_a_host_that_fails_waits_for_all_workers(
    connect: Connect, clock: Clock
) -> None:
    frontier, other = await connect(clock=clock), await connect("w2", clock=clock)
    job = Job(id="j", spider="s")
    await frontier.jobs.submit(job)
    await frontier.add([Request("j", f"http://a.com/{n}") for n in range(3)])
    [lease] = (await frontier.lease([job.lane], count=9)).leases
    robots = Robots(frontier, agent=AGENT, clock=clock)
    assert await robots.rules("http://a.com", fetch=Answers(RobotsAnswer(503))) is None
    await frontier.release([lease])
    for _ in range(4):
        clock.now_ms += 1_249
        assert (await other.lease([job.lane], count=9)).leases == []
    clock.now_ms += 4
    [lease] = (await other.lease([job.lane], count=9)).leases
    fine = Answers(RobotsAnswer(200, FORBIDS.encode()))
    assert await Robots(other, agent=AGENT, clock=clock).rules("http://a.com", fetch=fine)
    assert len((await frontier.lease([job.lane], count=9)).leases) == 2


async def test_another_worker_that_meets_the_failure_asks_nothing(
    connect: Connect, clock: Clock
) -> None:
    frontier, other = await connect(clock=clock), await connect("w2", clock=clock)
    fetch = Answers(RobotsAnswer(503, retry_after_ms=60_000))
    await Robots(frontier, agent=AGENT, clock=clock).rules("http://a.com", fetch=fetch)
    robots = Robots(other, agent=AGENT, clock=clock)
    assert await robots.rules("http://a.com", fetch=fetch) is None
    assert robots.trouble("http://a.com").wait_ms == 60_000  # type: ignore[union-attr]
    assert len(fetch.asked) == 1


async def test_it_is_read_again_when_it_is_stale(connect: Connect, clock: Clock) -> None:
    frontier, other = await connect(clock=clock), await connect("w2", clock=clock)
    fetch = Answers(RobotsAnswer(200, FORBIDS.encode()), RobotsAnswer(200, b""))
    first = Robots(frontier, agent=AGENT, clock=clock)
    second = Robots(other, agent=AGENT, clock=clock)
    await first.rules("http://a.com", fetch=fetch)
    clock.now_ms += 86_399_000
    rules = await second.rules("http://a.com", fetch=fetch)
    assert rules is not None
    assert not rules.allows("http://a.com/private")
    clock.now_ms += 1_000
    assert second.known("http://a.com") is None
    rules = await first.rules("http://a.com", fetch=fetch)
    assert rules is not None
    assert rules.allows("http://a.com/private")
    assert len(fetch.asked) == 2


async def test_what_lies_past_the_bound_is_ignored(
    connect: Connect,
) -> None:
    filler = "# nothing\n" * 51_198
    text = f"User-agent: *\nDisallow: /early\n{filler}Disallow: /late\nDisallow: /\n"
    async with robots_site((200, text)) as site, client() as session:

        async def fetch(url: str) -> RobotsAnswer:
            async with session.get(url) as response:
                return RobotsAnswer(response.status, await response.read())

        workers = [Robots(await connect(f"w{n}"), agent=AGENT) for n in range(2)]
        for robots in workers:
            rules = await robots.rules(site.origin, fetch=fetch)
            assert rules is not None
            assert not rules.allows(f"{site.origin}/early")
            assert rules.allows(f"{site.origin}/late")
    assert len(site.asked) == 1


async def test_redirects_are_followed_five_times(
    connect: Connect,
) -> None:
    five = [(302, f"/{n}") for n in range(5)]
    robots = Robots(await connect(), agent=AGENT)
    async with client() as session:

        async def fetch(url: str) -> RobotsAnswer:
            async with session.get(url, allow_redirects=False) as response:
                location = response.headers.get("Location", "")
                return RobotsAnswer(response.status, await response.read(), location)

        async with robots_site(*five, (200, FORBIDS)) as site:
            rules = await robots.rules(site.origin, fetch=fetch)
            assert site.asked == ["/robots.txt", "/0", "/1", "/2", "/3", "/4"]
            assert rules is not None
            assert not rules.allows(f"{site.origin}/private")
        async with robots_site((301, "/loop")) as site:
            rules = await robots.rules(site.origin, fetch=fetch)
            assert len(site.asked) == 6
            assert rules is not None
            assert rules.allows(f"{site.origin}/private")


@pytest.mark.parametrize("location", ["ftp://a.com/robots.txt", "http://[bad/", "data:,x"])
async def test_a_redirect_to_nowhere_is_no_robots_txt(connect: Connect, location: str) -> None:
    robots = Robots(await connect(), agent=AGENT)
    fetch = Answers(RobotsAnswer(301, location=location))
    assert await robots.rules("http://a.com", fetch=fetch) is not None


async def test_nothing_sent_is_no_failure_and_leaves_the_claim_to_others(
    connect: Connect,
) -> None:
    frontier, other = await connect(), await connect("w2")
    robots = Robots(frontier, agent=AGENT)
    assert await robots.rules("http://a.com", fetch=Answers(None)) is None
    assert robots.trouble("http://a.com") is None

    async def broken(_: str) -> RobotsAnswer:
        raise RuntimeError("a bug in the engine")

    with pytest.raises(RuntimeError):
        await robots.rules("http://a.com", fetch=broken)
    async with asyncio.timeout(30):
        fine = Answers(RobotsAnswer(200, b""))
        assert await Robots(other, agent=AGENT).rules("http://a.com", fetch=fine)


async def test_a_cancelled_fetch_leaves_the_claim_to_others(
    connect: Connect,
) -> None:
    frontier, other = await connect(), await connect("w2")
    begun = asyncio.Event()

    async def hang(_: str) -> RobotsAnswer:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError("never")

    task = asyncio.create_task(Robots(frontier, agent=AGENT).rules("http://a.com", fetch=hang))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(30):
        fine = Answers(RobotsAnswer(200, b""))
        assert await Robots(other, agent=AGENT).rules("http://a.com", fetch=fine)


async def test_an_agent_that_must_go_slower_slows_the_host_down(
    connect: Connect,
) -> None:
    frontier, other = await connect(), await connect("w2")
    text = b"User-agent: slow\nCrawl-delay: 7\nUser-agent: *\nCrawl-delay: 2\n"
    fetch = Answers(RobotsAnswer(200, text))
    first = await Robots(frontier, agent="quick").rules("http://a.com", fetch=fetch)
    assert first is not None
    assert (first.delay_ms, (await frontier.hosts.state("a.com")).crawl_delay_ms) == (2000, 2000)
    second = await Robots(other, agent="quick").rules("http://a.com", fetch=fetch, agent="slow")
    assert second is not None
    assert (second.delay_ms, (await other.hosts.state("a.com")).crawl_delay_ms) == (7000, 7000)
    assert len(fetch.asked) == 1


async def test_hosts_that_share_a_clock_share_the_longest_delay(connect: Connect) -> None:
    frontier = await connect(unit="domain")
    robots = Robots(frontier, agent=AGENT)
    for name, delay in (("a", 4), ("b", 9), ("c", 2)):
        answer = RobotsAnswer(200, f"User-agent: *\nCrawl-delay: {delay}\n".encode())
        rules = await robots.rules(f"https://{name}.shop.co.uk", fetch=Answers(answer))
        assert rules is not None
        assert rules.delay_ms == delay * 1000
    assert (await frontier.hosts.state("www.shop.co.uk")).crawl_delay_ms == 9000
