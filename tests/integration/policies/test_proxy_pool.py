"""Pools of several workers on one server, with a clock that stands still until it is moved."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import pytest

from skitter.errors import BadProxies, UnknownEgress
from skitter.frontier import Frontier
from skitter.policies.proxies import DIRECT, STICKY, ProxyPool
from skitter.settings import ProxySettings
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from tests.servers import ServerProcess

    Open = Callable[..., Awaitable["Worker"]]

pytestmark = pytest.mark.integration

URLS = tuple(f"http://bob:hidden@10.0.0.{n}:3128" for n in range(1, 5))
HOST = "shop.example"


class Clock:
    def __init__(self) -> None:
        self.now_ms = 1_700_000_000_000

    def __call__(self) -> float:
        return self.now_ms

    def step(self, seconds: float) -> None:
        self.now_ms += int(seconds * 1000)


class Worker:
    """A pool and its frontier."""

    def __init__(self, frontier: Frontier, pool: ProxyPool) -> None:
        self.frontier = frontier
        self.pool = pool
        self.names = [row.egress for row in pool.snapshot()]

    async def fail(self, egress: str, times: int = 1) -> None:
        for _ in range(times):
            self.pool.report(egress, HOST, error="proxy: refused")
            await self.pool.step()

    async def ban(self, egress: str, times: int = 3, host: str = HOST) -> None:
        for n in range(times):
            self.pool.report(egress, host, status=403, url=f"http://{host}/{n}")
            await self.pool.step()

    def state(self, egress: str) -> str:
        return next(row.state for row in self.pool.snapshot() if row.egress == egress)


@pytest.fixture
def server_url(valkey_server: ServerProcess) -> str:
    return valkey_server.url


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def open_worker(server_url: str, namespace: str, clock: Clock) -> AsyncIterator[Open]:
    async with AsyncExitStack() as stack:
        count = 0

        async def start(**settings: Any) -> Worker:
            nonlocal count
            count += 1
            frontier = await stack.enter_async_context(
                await Frontier.connect(
                    server_url, worker=f"w{count}", namespace=namespace, clock=clock
                )
            )
            named = {"urls": URLS, "cooldown_s": 60.0, "max_cooldown_s": 200.0} | settings
            pool = ProxyPool(
                ProxySettings(**named), frontier.egresses, now=lambda: clock.now_ms / 1000
            )
            return Worker(frontier, await stack.enter_async_context(pool))

        yield start


async def test_without_proxies_everything_goes_directly(open_worker: Open) -> None:
    pool = (await open_worker(urls=())).pool
    assert pool.egresses() == [DIRECT]
    assert pool.claim(DIRECT, HOST) == DIRECT
    assert pool.url_of(DIRECT) is None
    assert pool.report(DIRECT, HOST, status=403).kind == "ok"
    assert pool.snapshot() == []


async def test_all_workers_know_proxies_by_the_same_names(open_worker: Open) -> None:
    one, two = await open_worker(), await open_worker(urls=URLS[::-1])
    assert sorted(one.pool.egresses()) == sorted(two.pool.egresses()) == sorted(one.names)
    assert [one.pool.url_of(name) for name in one.names] == list(URLS)
    assert "hidden" not in repr(one.pool.snapshot())
    assert not one.pool.usable(DIRECT, HOST)


async def test_no_request_ever_goes_without_its_proxy(open_worker: Open) -> None:
    pool = (await open_worker()).pool
    for egress in ("p-00000000", STICKY):
        with pytest.raises(UnknownEgress):
            pool.url_of(egress)
    assert pool.claim("p-00000000", HOST) is None


async def test_a_failure_is_seen_at_once_and_a_cool_down_by_all(open_worker: Open) -> None:
    one, two = await open_worker(), await open_worker()
    bad = one.names[0]
    verdict = one.pool.report(bad, HOST, error="proxy: refused")
    assert (verdict.kind, verdict.retry) == ("broken", True)
    assert bad not in one.pool.egresses()
    await one.pool.step()
    assert one.state(bad) == "suspect"
    await one.fail(bad, 2)
    await two.pool.step()
    for worker in (one, two):
        assert worker.state(bad) == "cooling"
        assert bad not in worker.pool.egresses()
        assert not worker.pool.usable(bad, HOST)
        assert worker.pool.claim(bad, "other.example") is None


async def test_workers_count_failures_together(open_worker: Open) -> None:
    workers = [await open_worker() for _ in range(3)]
    bad = workers[0].names[0]
    for worker in workers:
        await worker.fail(bad)
    assert workers[2].state(bad) == "cooling"


async def test_the_others_hear_of_it_without_being_told_to_ask(open_worker: Open) -> None:
    one, two = await open_worker(), await open_worker()
    for _ in range(3):
        one.pool.report(one.names[0], HOST, error="connect")
    await wait_until_async(lambda: two.state(one.names[0]) == "cooling")


async def test_a_suspect_is_tried_with_one_request_at_a_time(open_worker: Open) -> None:
    worker = await open_worker()
    bad = worker.names[0]
    await worker.fail(bad)
    assert worker.pool.claim(bad, HOST) == bad
    assert worker.pool.claim(bad, "other.example") is None
    worker.pool.report(bad, HOST, status=200)
    await worker.pool.step()
    assert worker.state(bad) == "healthy"
    assert worker.pool.claim(bad, HOST) == worker.pool.claim(bad, HOST) == bad


async def test_after_the_cool_down_one_worker_tries_with_one_request(
    open_worker: Open, clock: Clock
) -> None:
    one, two = await open_worker(), await open_worker()
    bad = one.names[0]
    await one.fail(bad, 3)
    await two.pool.step()
    clock.step(65)
    await one.pool.step()
    await two.pool.step()
    assert (one.state(bad), two.state(bad)) == ("trial", "trial")
    triers = [worker for worker in (one, two) if bad in worker.pool.egresses()]
    assert len(triers) == 1
    pool = triers[0].pool
    assert pool.claim(bad, HOST) == bad
    assert bad not in pool.egresses()
    assert pool.claim(bad, "other.example") is None
    pool.report(bad, HOST, status=200)
    for worker in (triers[0], one, two):
        await worker.pool.step()
    assert all(bad in worker.pool.egresses() for worker in (one, two))
    assert all(worker.state(bad) == "healthy" for worker in (one, two))


async def test_a_trial_that_fails_makes_the_next_cool_down_longer(
    open_worker: Open, clock: Clock
) -> None:
    worker = await open_worker()
    bad = worker.names[0]
    await worker.fail(bad, 3)
    lengths = []
    for _ in range(4):
        lengths.append(worker.pool.snapshot()[0].left_s)
        clock.step(lengths[-1] + 3)
        await worker.pool.step()
        assert worker.pool.claim(bad, HOST) == bad
        await worker.fail(bad)
    assert lengths == [60, 120, 200, 200]


async def test_a_trial_without_an_answer_is_given_to_another(
    open_worker: Open, clock: Clock
) -> None:
    one, two = await open_worker(), await open_worker()
    bad = one.names[0]
    await one.fail(bad, 3)
    clock.step(65)
    await one.pool.step()
    assert one.pool.claim(bad, HOST) == bad
    for _ in range(29):
        clock.step(1)
        await one.pool.step()
        await two.pool.step()
        assert bad not in two.pool.egresses()
    await one.pool.close()
    clock.step(5)
    await two.pool.step()
    assert bad in two.pool.egresses()


async def test_a_ban_counts_at_its_host_only_and_no_lease_comes_there(open_worker: Open) -> None:
    one, two = await open_worker(), await open_worker()
    banned = one.names[0]
    verdict = one.pool.report(banned, HOST, status=403, url="http://shop.example/1")
    assert (verdict.kind, verdict.retry) == ("banned", True)
    await one.ban(banned)
    await two.pool.step()
    for worker in (one, two):
        assert not worker.pool.usable(banned, HOST)
        assert worker.pool.claim(banned, "other.example") == banned
        assert banned in worker.pool.egresses()
        assert worker.pool.snapshot()[0].banned_hosts == 1
    assert await one.frontier.hosts.bar(HOST, banned, 0) > 59_000


async def test_a_ban_may_be_told_by_a_body(open_worker: Open) -> None:
    worker = await open_worker(ban_patterns=("captcha",), fails_before_cooldown=1)
    name = worker.names[0]
    assert worker.pool.report(name, HOST, status=200, body_prefix=b"page").kind == "ok"
    verdict = worker.pool.report(name, HOST, status=200, body_prefix=b"a CAPTCHA")
    assert (verdict.kind, verdict.reason) == ("banned", "body 'captcha'")
    await worker.pool.step()
    assert not worker.pool.usable(name, HOST)


async def test_a_ban_ends_with_one_request(open_worker: Open, clock: Clock) -> None:
    worker = await open_worker()
    name = worker.names[0]
    await worker.ban(name)
    clock.step(60)
    assert worker.pool.claim(name, HOST) == name
    assert worker.pool.claim(name, HOST) is None
    worker.pool.report(name, HOST, status=200)
    await worker.pool.step()
    assert worker.pool.claim(name, HOST) == worker.pool.claim(name, HOST) == name


async def test_a_bar_that_ran_out_before_the_ban_is_renewed(
    open_worker: Open, clock: Clock
) -> None:
    worker = await open_worker(cooldown_s=5000, max_cooldown_s=5000)
    name = worker.names[0]
    await worker.ban(name)
    assert await worker.frontier.hosts.bar(HOST, name, 0) == 3_600_000
    clock.step(3600)
    assert not worker.pool.usable(name, HOST)
    await worker.pool.step()
    assert await worker.frontier.hosts.bar(HOST, name, 0) == 1_400_001


async def test_407_is_the_proxys_fault_everywhere(open_worker: Open) -> None:
    worker = await open_worker(fails_before_cooldown=1)
    assert worker.pool.report(worker.names[0], HOST, status=407).kind == "broken"
    await worker.pool.step()
    assert not worker.pool.usable(worker.names[0], "other.example")


async def test_a_site_that_is_down_breaks_no_proxy_for_long(open_worker: Open) -> None:
    worker = await open_worker()
    kinds = []
    for n in range(20):
        name = worker.names[n % 4]
        kinds.append(worker.pool.report(name, HOST, error="timeout", url=f"/{n}").kind)
        worker.pool.report(name, "fine.example", status=200)
        await worker.pool.step()
    assert kinds == ["broken"] * 3 + ["ok"] * 17
    assert {row.state for row in worker.pool.snapshot()} == {"healthy"}


async def test_a_request_moves_so_often_and_no_more(open_worker: Open) -> None:
    worker = await open_worker(max_moves=2, fails_before_cooldown=10)
    verdicts = [
        worker.pool.report(worker.names[n], HOST, status=403, url="http://shop.example/admin")
        for n in range(4)
    ]
    assert [verdict.retry for verdict in verdicts] == [True, True, False, False]
    assert worker.pool.report(worker.names[0], HOST, status=403, url="/other").retry


async def test_direct_is_used_only_where_it_is_allowed(open_worker: Open) -> None:
    strict = await open_worker(urls=URLS[:1])
    lenient = await open_worker(urls=URLS[:1], direct=True)
    await strict.fail(strict.names[0], 3)
    await lenient.pool.step()
    assert strict.pool.egresses() == []
    assert lenient.pool.egresses() == [DIRECT]
    assert not strict.pool.usable(DIRECT, HOST)
    assert lenient.pool.claim(DIRECT, HOST) == DIRECT


async def test_sticky_hosts_have_one_proxy_on_all_workers(open_worker: Open) -> None:
    one, two = await open_worker(rotation="sticky"), await open_worker(rotation="sticky")
    hosts = [f"h{n}.example" for n in range(50)]
    assert one.pool.egresses() == [STICKY]
    chosen = {host: one.pool.claim(STICKY, host) for host in hosts}
    assert chosen == {host: two.pool.claim(STICKY, host) for host in hosts}
    assert set(chosen.values()) == set(one.names)
    lost = one.names[0]
    await one.fail(lost, 3)
    await two.pool.step()
    after = {host: two.pool.claim(STICKY, host) for host in hosts}
    assert lost not in after.values()
    assert all(after[host] == name for host, name in chosen.items() if name != lost)


async def test_a_sticky_host_that_bans_all_proxies_waits_as_a_whole(open_worker: Open) -> None:
    worker = await open_worker(rotation="sticky")
    for _ in worker.names:
        name = worker.pool.claim(STICKY, HOST)
        assert name is not None
        await worker.ban(name)
    assert worker.pool.egresses() == [STICKY]
    assert worker.pool.claim(STICKY, HOST) is None
    await worker.pool.step()
    assert await worker.frontier.hosts.bar(HOST, STICKY, 0) > 59_000


async def test_files_are_read_again_and_bad_ones_change_nothing(
    open_worker: Open, tmp_path: Path
) -> None:
    path = tmp_path / "proxies.txt"
    path.write_text("10.0.0.1:80\n")
    worker = await open_worker(urls=(), files=(path,))
    assert len(worker.pool.egresses()) == 1
    path.write_text("10.0.0.1:80\n10.0.0.2:80\n")
    await worker.pool.step()
    assert len(worker.pool.egresses()) == 2
    path.write_text("not a proxy at all\n")
    await worker.pool.step()
    assert len(worker.pool.egresses()) == 2
    path.unlink()
    await worker.pool.step()
    assert len(worker.pool.egresses()) == 2


async def test_a_bad_file_is_an_error_at_the_start(open_worker: Open, tmp_path: Path) -> None:
    path = tmp_path / "proxies.txt"
    path.write_text("ftp://bob:hidden@h:1\n")
    with pytest.raises(BadProxies) as caught:
        await open_worker(files=(path,))
    assert "line 1" in str(caught.value)


async def test_the_server_may_be_away_for_a_while(
    open_worker: Open, valkey_server: ServerProcess
) -> None:
    worker = await open_worker()
    valkey_server.pause()
    try:
        for _ in range(3):
            worker.pool.report(worker.names[0], HOST, error="connect")
        assert worker.names[0] not in worker.pool.egresses()
        assert worker.names[1] in worker.pool.egresses()
    finally:
        valkey_server.resume()
    await wait_until_async(lambda: worker.state(worker.names[0]) == "cooling", timeout_s=20)
