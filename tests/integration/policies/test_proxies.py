"""Real proxies with exit addresses of their own, and a lab whose referee tells them apart."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from contextlib import AsyncExitStack, ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from skitter.frontier import Config, Frontier, Job, Request
from skitter.lab import WebSpec
from skitter.lab.referee import Judging
from skitter.policies.proxies import ProxyPool
from skitter.policies.proxies.source import ProxySource
from skitter.settings import ProxySettings
from tests.integration.policies.proxied_loop import ProxiedLoop, fetch
from tests.servers.tinyproxy import MicroSocks, TinyProxy
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence

    from skitter.lab.process import LabProcess
    from skitter.lab.pytest_plugin import StartLabProcess
    from tests.servers import ServerProcess

    StartProxies = Callable[..., list[TinyProxy]]
    StartCrew = Callable[..., Awaitable["Crew"]]

pytestmark = pytest.mark.integration

HOSTS, PAGES, DELAY_MS = 4, 3000, 40
FIRST_ADDRESS = 11
COOLDOWN_S = 3.0


@pytest.fixture
def server_url(valkey_server: ServerProcess) -> str:
    return valkey_server.url


@pytest.fixture
def web(lab_process: StartLabProcess) -> LabProcess:
    spec = WebSpec(hosts=HOSTS, pages=PAGES, delays_ms=(DELAY_MS,), page_bytes=300, links=2)
    return lab_process(spec, judging=Judging(per_client_address=True, log=100_000))


@pytest.fixture
def start_proxies(web: LabProcess) -> Iterator[StartProxies]:
    with ExitStack() as stack:

        def start(count: int, *, auth: bool = False) -> list[TinyProxy]:
            upstream = web.proxy.removeprefix("http://")
            addresses = [f"127.0.0.{FIRST_ADDRESS + n}" for n in range(count)]
            proxies = [TinyProxy(address, upstream=upstream, auth=auth) for address in addresses]
            return [stack.enter_context(proxy) for proxy in proxies]

        yield start


class Crew:
    """Workers on one frontier, each with a pool of its own."""

    def __init__(self, pools: list[ProxyPool], loops: list[ProxiedLoop], urls: list[str]) -> None:
        self.pools = pools
        self.loops = loops
        self.names = dict(zip(urls, (row.egress for row in pools[0].snapshot()), strict=True))

    def sent(self, egress: str, since: float = 0.0) -> int:
        all_sent = (sent for loop in self.loops for sent in loop.sent)
        return sum(sent.egress == egress and sent.at >= since for sent in all_sent)

    def states(self, egresses: Sequence[str]) -> set[str]:
        rows = (row for pool in self.pools for row in pool.snapshot())
        return {row.state for row in rows if row.egress in egresses}

    def pages(self) -> list[str]:
        return [url for loop in self.loops for url, _ in loop.pages]


@pytest.fixture
async def start_crew(server_url: str, namespace: str, web: LabProcess) -> AsyncIterator[StartCrew]:
    config = Config(delay_ms=DELAY_MS, latency_factor=0, turn_ms=200)
    job = Job(id="j", spider="s", robots=False)
    async with AsyncExitStack() as stack:

        async def start(workers: int, urls: list[str], **settings: Any) -> Crew:
            pools, loops = [], []
            for n in range(workers):
                connecting = Frontier.connect(
                    server_url, worker=f"w{n}", namespace=namespace, config=config
                )
                frontier = await stack.enter_async_context(await connecting)
                named = {"urls": tuple(urls), "cooldown_s": COOLDOWN_S} | settings
                pool = ProxyPool(ProxySettings(**named), frontier.egresses)
                pools.append(await stack.enter_async_context(pool))
                loops.append(ProxiedLoop(frontier, pool))
            await frontier.jobs.submit(job)
            await frontier.add(
                [Request("j", web.url(h, f"/p/{n}")) for n in range(1, PAGES) for h in range(HOSTS)]
            )
            tasks = [asyncio.create_task(loop.run(job.lane)) for loop in loops]
            stack.push_async_callback(_end, loops, tasks)
            return Crew(pools, loops, urls)

        yield start


async def _end(loops: list[ProxiedLoop], tasks: list[asyncio.Task[None]]) -> None:
    for loop in loops:
        loop.stopping = True
    await asyncio.gather(*tasks)


def exits(web: LabProcess) -> Counter[str]:
    return Counter(request["client"] for request in web.requests())


async def test_traffic_leaves_proxies_that_refuse_and_comes_back(
    web: LabProcess, start_proxies: StartProxies, start_crew: StartCrew
) -> None:
    proxies = start_proxies(10)
    crew = await start_crew(2, [proxy.url for proxy in proxies])
    names = [crew.names[proxy.url] for proxy in proxies]
    refusing, broken = proxies[:3], names[:3]
    await wait_until_async(lambda: all(crew.sent(name) > 5 for name in names), timeout_s=20)

    stopped_at = time.monotonic()
    for proxy in refusing:
        proxy.stop()
    await wait_until_async(lambda: crew.states(broken) == {"cooling"}, what="all three cool down")
    tries = {name: crew.sent(name, since=stopped_at) for name in broken}
    assert max(tries.values()) <= 10, tries
    enough = sum(crew.sent(name) for name in names) + 100
    await wait_until_async(lambda: sum(crew.sent(name) for name in names) > enough)
    # One more at most: the trial, where a hundred pages took longer than the cool-down.
    assert all(crew.sent(name, since=stopped_at) <= tries[name] + 1 for name in broken)

    web_saw = exits(web)
    for proxy in refusing:
        proxy.start()
    await wait_until_async(lambda: crew.states(broken) == {"healthy"}, timeout_s=20)
    await wait_until_async(
        lambda: all(exits(web)[p.exit_address] > web_saw[p.exit_address] + 5 for p in refusing),
        timeout_s=20,
    )

    await _stop(crew)
    verdict = web.verdict(coverage=False)
    assert verdict.polite, verdict
    assert verdict.statuses == {"200": verdict.requests}
    assert len(exits(web)) == 10
    assert len(crew.pages()) == len(set(crew.pages()))
    state = await crew.loops[0]._frontier.hosts.state(web.web.host(0))
    assert state.failed == 0


async def test_a_proxy_that_does_not_answer_is_left_alone(
    web: LabProcess, start_proxies: StartProxies, start_crew: StartCrew,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("tests.integration.policies.proxied_loop.TIMEOUT_S", 0.5)
    proxies = start_proxies(3)
    crew = await start_crew(1, [proxy.url for proxy in proxies], fails_before_cooldown=2)
    silent = crew.names[proxies[0].url]
    await wait_until_async(lambda: crew.sent(silent) > 3)
    paused_at = time.monotonic()
    proxies[0].pause()
    await wait_until_async(lambda: crew.states([silent]) == {"cooling"})
    assert crew.sent(silent, since=paused_at) <= 10
    await _stop(crew)
    assert web.verdict(coverage=False).gaps.count == 0


async def test_sticky_hosts_leave_by_one_address(
    web: LabProcess, start_proxies: StartProxies, start_crew: StartCrew
) -> None:
    proxies = start_proxies(4)
    crew = await start_crew(2, [proxy.url for proxy in proxies], rotation="sticky")
    await wait_until_async(lambda: len(crew.pages()) > 80, timeout_s=20)
    await _stop(crew)
    pairs = {(request["url"].split("/")[2], request["client"]) for request in web.requests()}
    assert len(pairs) == HOSTS
    assert web.verdict(coverage=False).polite


async def test_credentials_are_used_and_their_lack_is_a_fault(
    web: LabProcess, start_proxies: StartProxies, start_crew: StartCrew
) -> None:
    [proxy] = start_proxies(1, auth=True)
    answer = await fetch(web.url(0, "/p/1"), f"http://127.0.0.1:{proxy.port}")
    assert answer.status == 407
    crew = await start_crew(1, [proxy.url, f"http://127.0.0.1:{proxy.port}"])
    good, bad = crew.names.values()
    await wait_until_async(lambda: crew.states([bad]) == {"cooling"} and crew.sent(good) > 10)
    await _stop(crew)
    assert crew.states([good]) == {"healthy"}
    assert set(exits(web)) == {proxy.exit_address}
    assert {egress for loop in crew.loops for _, egress in loop.pages} == {good}


@pytest.mark.parametrize("auth", [False, True])
@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
async def test_socks5(lab_process: StartLabProcess, auth: bool, scheme: str) -> None:
    web = lab_process(WebSpec(hosts=2, host_pattern="127.0.0.{n}"), judging=Judging(log=10))
    with MicroSocks("127.0.0.9", auth=auth) as server:
        [proxy] = ProxySource((server.url.replace("socks5", scheme),), ()).read().values()
        answer = await fetch(f"http://127.0.0.1:{web.port}/p/1", proxy.url)
        assert answer.status == 200, answer
    assert exits(web) == {"127.0.0.9": 1}
    refused = await fetch(f"http://127.0.0.1:{web.port}/p/1", proxy.url)
    assert refused.error.startswith("proxy")


async def _stop(crew: Crew) -> None:
    """Wait until what is under way has been answered, for the referee to judge it."""
    for loop in crew.loops:
        loop.stopping = True
    await wait_until_async(lambda: all(not loop._tasks for loop in crew.loops), timeout_s=20)
