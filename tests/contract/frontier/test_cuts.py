"""Connections cut before a call, after it and in its reply: repeated, and counted once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from redis.exceptions import ConnectionError as Disconnected

from skitter.frontier import Config
from skitter.frontier.scripts import script
from tests.contract.frontier.calls import CALLS, Call, prepare
from tests.contract.frontier.crawl import Backend, Crawl
from tests.servers import Cut, CutProxy, delete_keys, list_keys

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from tests.servers import ServerProcess

CUTS = [Cut.BEFORE_REQUEST, Cut.AFTER_REQUEST, Cut.MID_REPLY]


@pytest.fixture(scope="module")
def proxy(valkey_server: ServerProcess) -> Iterator[CutProxy]:
    with CutProxy(valkey_server.url) as proxy:
        yield proxy


@pytest.fixture
async def through_proxy(
    proxy: CutProxy, valkey_server: ServerProcess, namespace: str
) -> AsyncIterator[Crawl]:
    backend = Backend("valkey", valkey_server.url, 1)
    crawl = await Crawl.open(
        backend, namespace, config=Config(delay_ms=0), url=proxy.url, timeout_s=0.5
    )
    for call in CALLS:
        await crawl.raw("SCRIPT", "LOAD", script(call.script).text)
    yield crawl
    await crawl.wind_up()
    await crawl.close()
    delete_keys(valkey_server.url, list_keys(valkey_server.url))


@pytest.mark.parametrize("cut", CUTS, ids=lambda cut: cut.name.lower())
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
async def test_a_cut_call_is_repeated_and_counts_once(
    through_proxy: Crawl, proxy: CutProxy, call: Call, cut: Cut
) -> None:
    leases = await prepare(through_proxy)
    before = proxy.cuts
    proxy.cut_next(cut, match=script(call.script).sha.encode())
    await call.run(through_proxy, leases)
    assert proxy.cuts == before + 1
    assert call.effect(await through_proxy.frontier.stats.job("j"))


async def test_a_reply_that_never_comes_is_waited_for_no_longer_than_the_timeout(
    through_proxy: Crawl, proxy: CutProxy
) -> None:
    leases = await prepare(through_proxy)
    proxy.cut_next(Cut.SILENT_AFTER, match=script("settle").sha.encode())
    assert await through_proxy.settle(*leases) == [True, True]
    assert (await through_proxy.frontier.stats.job("j")).done == 2


async def test_several_cuts_in_a_row_are_outlasted(through_proxy: Crawl, proxy: CutProxy) -> None:
    leases = await prepare(through_proxy)
    proxy.cut_next(Cut.AFTER_REQUEST, match=script("settle").sha.encode(), times=3)
    assert await through_proxy.settle(*leases) == [True, True]
    assert (await through_proxy.frontier.stats.job("j")).done == 2


@pytest.mark.parametrize("backend", ["redis", "cluster"], indirect=True)
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
async def test_a_lost_reply_counts_once_on_other_servers(
    crawl: Crawl, monkeypatch: pytest.MonkeyPatch, call: Call
) -> None:
    """A cluster's nodes have addresses of their own, so the cut is made in the client."""
    leases = await prepare(crawl)
    client = crawl.frontier.shards.server.client
    execute, armed = client.execute_command, [script(call.script).sha, script(call.script).text]

    async def cut(*args: Any, **options: Any) -> Any:
        reply = await execute(*args, **options)
        if args[0] in ("EVAL", "EVALSHA") and args[1] in armed:
            armed.clear()
            raise Disconnected("cut")
        return reply

    monkeypatch.setattr(client, "execute_command", cut)
    await call.run(crawl, leases)
    assert armed == []
    assert call.effect(await crawl.frontier.stats.job("j"))
