"""Servers that are gone, slow, read-only, full or evicting: calls wait, resume, lose nothing."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import pytest

from skitter.errors import ServerEvicts, ServerFull, ServerUnavailable
from skitter.frontier import Config, Frontier
from tests.contract.frontier.calls import prepare
from tests.contract.frontier.crawl import LEASE_MS, Backend, Clock, Crawl, pages
from tests.servers import ServerProcess
from tests.servers.keyspace import _primaries

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

KINDS = ["valkey", "redis"]
DURABLE = {"appendonly": "yes", "appendfsync": "always"}


@contextlib.contextmanager
def configured(url: str, **settings: str) -> Iterator[None]:
    """Settings of all nodes of a server, put back at the end."""
    clients = list(_primaries(url))
    names = {name: name.replace("_", "-") for name in settings}
    before: list[dict[str, Any]] = [
        {n: c.config_get(n)[n] for n in names.values()} for c in clients
    ]
    try:
        for client in clients:
            for name, value in settings.items():
                client.config_set(names[name], value)
        yield
    finally:
        for client, old in zip(clients, before, strict=True):
            for name, value in old.items():
                client.config_set(name, value)
            client.close()


@contextlib.asynccontextmanager
async def own_server(kind: Any, namespace: str, **kw: Any) -> AsyncIterator[Any]:
    """A server of the test's own, to be broken, and a crawl on it."""
    with ServerProcess(kind, options=kw.pop("options", None)) as server:
        backend = Backend(kind, server.url, 1)
        crawl = await Crawl.open(backend, namespace, config=Config(delay_ms=0), **kw)
        try:
            yield server, crawl
        finally:
            await crawl.close()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_server_that_is_gone_is_waited_for(kind: str) -> None:
    async with own_server(kind, "t", options=DURABLE) as (server, crawl):
        leases = await prepare(crawl)
        server.kill()
        settling = asyncio.create_task(crawl.settle(*leases))
        adding = asyncio.create_task(crawl.add(*pages("b.org", 3)))
        server.start()
        assert await settling == [True, True]
        assert (await adding).new == 3
        assert len(await crawl.lease()) == 10  # it synced every write, so it forgot none
        await crawl.counts_are_right()


@pytest.mark.parametrize("kind", KINDS)
async def test_after_a_restart_that_may_have_lost_writes_nothing_is_leased_for_a_lease_time(
    kind: str,
) -> None:
    async with own_server(kind, "t", options={"appendonly": "yes"}) as (server, crawl):
        await prepare(crawl)
        server.restart()
        for _ in range(3):
            assert await crawl.lease() == []
            assert not (await crawl.frontier.permit("b.org")).granted
            crawl.clock.step(LEASE_MS // 3)
        assert len(await crawl.lease()) > 0


@pytest.mark.parametrize("kind", KINDS)
async def test_a_server_that_stays_away_is_named_with_what_to_do(kind: str) -> None:
    async with own_server(kind, "t", patience_s=0.3) as (server, crawl):
        await prepare(crawl)
        server.kill()
        with pytest.raises(ServerUnavailable, match=r"(?s)has been away.*Start the server"):
            await crawl.add("https://b.org/")
        server.start()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_server_that_does_not_answer_is_given_up_and_nothing_counts_twice(
    kind: str,
) -> None:
    async with own_server(kind, "t", patience_s=0.4, timeout_s=0.2) as (server, crawl):
        leases = await prepare(crawl)
        server.pause()
        with pytest.raises(ServerUnavailable, match="does not answer in time"):
            await crawl.settle(*leases, page=True)
        server.resume()
        await crawl.settle(*leases, page=True)
        stats = await crawl.frontier.stats.job("j")
        assert (stats.done, stats.pages) == (2, 2)
        await crawl.counts_are_right()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_slow_server_is_waited_for(kind: str) -> None:
    async with own_server(kind, "t", timeout_s=0.2) as (server, crawl):
        await prepare(crawl)
        server.pause()
        adding = asyncio.create_task(crawl.add(*pages("b.org", 4)))
        await asyncio.wait([adding], timeout=0.5)
        assert not adding.done()
        server.resume()
        assert (await adding).new == 4
        assert (await crawl.frontier.stats.job("j")).accepted == 14


@pytest.mark.parametrize("kind", KINDS)
async def test_a_server_that_turned_replica_is_waited_for(kind: str) -> None:
    async with own_server(kind, "t") as (server, crawl):
        leases = await prepare(crawl)
        with server.client() as client:
            client.execute_command("REPLICAOF", "127.0.0.1", "1")
            settling = asyncio.create_task(crawl.settle(*leases))
            await asyncio.wait([settling], timeout=0.2)
            assert not settling.done()
            client.execute_command("REPLICAOF", "NO", "ONE")
        assert await settling == [True, True]
        await crawl.counts_are_right()


async def test_a_server_that_refuses_writes_is_waited_for(crawl: Crawl) -> None:
    leases = await prepare(crawl)
    with configured(crawl.backend.url, min_replicas_to_write="1"):
        settling = asyncio.create_task(crawl.settle(*leases))
        adding = asyncio.create_task(crawl.add(*pages("b.org", 3)))
        await asyncio.wait([settling, adding], timeout=0.2)
        assert not settling.done()
        assert not adding.done()
    assert await settling == [True, True]
    assert (await adding).new == 3


async def test_a_full_server_takes_nothing_new_but_work_in_hand_goes_on(crawl: Crawl) -> None:
    settled, kept = await prepare(crawl)
    crawl.frontier.shards.patience_s = 0.2
    with configured(crawl.backend.url, maxmemory="1"):
        with pytest.raises(ServerFull, match=r"(?s)out of memory.*Give it more memory"):
            await crawl.add(*pages("b.org", 5))
        with pytest.raises(ServerFull):
            await crawl.lease(1)
        assert [r.answer for r in await crawl.frontier.renew([kept])] == ["kept"]
        assert await crawl.settle(settled, page=True) == [True]
        assert await crawl.frontier.release([kept]) == [True]
        assert await crawl.frontier.reap() == 0
        await crawl.frontier.jobs.pause("j")
        await crawl.frontier.jobs.resume("j")
        await crawl.tend()
    stats = await crawl.frontier.stats.job("j")
    assert (stats.accepted, stats.done, stats.queued) == (10, 1, 8)
    assert (await crawl.add(*pages("b.org", 5))).new == 5
    await crawl.counts_are_right()


async def test_a_full_server_resumes_by_itself(crawl: Crawl) -> None:
    await prepare(crawl)
    with configured(crawl.backend.url, maxmemory="1"):
        adding = asyncio.create_task(crawl.add(*pages("b.org", 3)))
        await asyncio.wait([adding], timeout=0.2)
        assert not adding.done()
    assert (await adding).new == 3


async def test_children_that_find_no_room_leave_their_parent_leased(crawl: Crawl) -> None:
    [lease, _] = await prepare(crawl)
    crawl.frontier.shards.patience_s = 0.2
    child = lease.request.__class__("j", "https://b.org/child")
    with configured(crawl.backend.url, maxmemory="1"), pytest.raises(ServerFull):
        await crawl.settle(lease, children=[child])
    assert (await crawl.frontier.stats.job("j")).leased == 2
    assert await crawl.settle(lease, children=[child]) == [True]
    assert (await crawl.frontier.stats.job("j")).accepted == 11


async def test_a_server_that_evicts_is_refused(backend: Backend, namespace: str) -> None:
    with (
        configured(backend.url, maxmemory_policy="allkeys-lru"),
        pytest.raises(ServerEvicts, match=r"(?s)allkeys-lru.*noeviction"),
    ):
        await Frontier.connect(backend.url, worker="w", namespace=namespace, clock=Clock())
