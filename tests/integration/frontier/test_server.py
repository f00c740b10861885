"""Opening servers of every kind, refusing unfit ones, and reading their errors."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from redis import exceptions

from skitter.errors import ServerEvicts, ServerReadOnly, ServerTooOld, ServerUnavailable
from skitter.frontier.server import (
    NodeFacts,
    describe,
    open_server,
    out_of_memory,
    transient,
    wait_for_server,
)
from tests.servers import ClusterProcess, Cut, CutProxy, ServerProcess
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from skitter.frontier.server import Server

pytestmark = pytest.mark.integration


class Notes:
    """A log that remembers."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []

    def warning(self, event: str, **fields: Any) -> None:
        self.lines.append({"event": event, **fields})


async def test_every_kind_opens_checks_and_answers(server_url: str, namespace: str) -> None:
    server = await open_server(server_url)
    await server.check()
    await server.client.set(f"{namespace}:key", b"\xff\x00")
    assert await server.client.get(f"{namespace}:key") == b"\xff\x00"
    assert all(len(run_id) == 40 for run_id in (await server.run_ids()).values())
    await server.close()


async def test_kind_version_and_cluster_are_recognised(
    valkey_server: ServerProcess, redis_server: ServerProcess, redis_cluster: ClusterProcess
) -> None:
    valkey = await open_server(valkey_server.url)
    redis = await open_server(redis_server.url)
    cluster = await open_server(redis_cluster.url.replace("+cluster", ""))
    assert (valkey.kind, valkey.cluster) == ("valkey", False)
    assert (redis.kind, redis.cluster) == ("redis", False)
    assert (cluster.kind, cluster.cluster, len(cluster.nodes)) == ("redis", True, 3)
    assert int(valkey.version.split(".")[0]) >= 8
    for server in (valkey, redis, cluster):
        await server.close()


@pytest.mark.parametrize("kind", ["valkey", "redis"])
async def test_an_evicting_server_is_refused(kind: Any) -> None:
    with ServerProcess(kind, options={"maxmemory-policy": "allkeys-lru"}) as process:
        server = await open_server(process.url)
        with pytest.raises(ServerEvicts, match="allkeys-lru"):
            await server.check()
        await server.close()


async def test_one_evicting_primary_spoils_the_cluster(redis_cluster: ClusterProcess) -> None:
    server = await open_server(redis_cluster.url)
    spoiled = redis_cluster.nodes[1].client()
    spoiled.config_set("maxmemory-policy", "volatile-ttl")
    try:
        with pytest.raises(ServerEvicts, match=str(redis_cluster.nodes[1].port)):
            await server.check()
    finally:
        spoiled.config_set("maxmemory-policy", "noeviction")
        spoiled.close()
        await server.close()


async def test_a_replica_is_refused_and_the_primary_named(redis_server: ServerProcess) -> None:
    options = {"replicaof": f"127.0.0.1 {redis_server.port}"}
    with ServerProcess("redis", options=options) as process:
        server = await open_server(process.url)
        with pytest.raises(ServerReadOnly, match="primary"):
            await server.check()
        await server.close()


@pytest.mark.parametrize(
    ("info", "refused"),
    [
        ({"redis_version": "6.2.14"}, True),
        ({"redis_version": "7.0.0"}, False),
        ({"redis_version": "8.10.1"}, False),
        ({"redis_version": "7.2.4", "valkey_version": "7.2.5"}, False),
        ({"redis_version": "7.2.4", "valkey_version": "7.1.0"}, True),
    ],
)
def test_an_old_server_is_refused(info: dict[str, str], refused: bool) -> None:
    facts = NodeFacts.from_info("there", {"run_id": "x", "role": "master", **info})
    if refused:
        with pytest.raises(ServerTooOld):
            facts.refuse_if_unfit()
    else:
        facts.refuse_if_unfit()


async def test_opening_a_server_that_is_not_there_says_so_without_the_password() -> None:
    with pytest.raises(ServerUnavailable, match="no connection") as caught:
        await open_server("redis://user:hunter2@127.0.0.1:1/0", connect_timeout_s=1)
    assert "hunter2" not in str(caught.value)


async def test_waiting_ends_when_the_server_comes() -> None:
    process = ServerProcess("valkey")
    notes = Notes()
    try:
        waiting = asyncio.create_task(wait_for_server(process.url, patience_s=20, log=notes))
        await wait_until_async(lambda: notes.lines)
        process.start()
        server = await waiting
        await server.close()
    finally:
        process.stop()
    assert notes.lines[0]["event"] == "waiting for the server"
    assert notes.lines[0]["server"] == process.url


async def test_patience_ends() -> None:
    with pytest.raises(ServerUnavailable) as caught:
        await wait_for_server("redis://127.0.0.1:1", patience_s=0.3, log=Notes())
    assert caught.value.waited_s >= 0.3


async def test_waiting_does_not_wait_for_a_password_to_become_right() -> None:
    with ServerProcess("redis", tcp=True) as process:
        with process.client() as client:
            client.config_set("requirepass", "secret")
        with pytest.raises(ServerUnavailable, match="login"):
            await wait_for_server(process.url, patience_s=60, log=Notes())


async def _error_of(server: Server, *command: Any) -> Exception:
    try:
        await server.client.execute_command(*command)
    except Exception as error:  # noqa: BLE001 - which one is the question
        return error
    raise AssertionError(f"{command} succeeded")


@pytest.mark.parametrize("kind", ["valkey", "redis"])
async def test_out_of_memory_is_told_apart_also_in_scripts(kind: Any) -> None:
    with ServerProcess(kind, options={"maxmemory": "1"}) as process:
        server = await open_server(process.url)
        plain = await _error_of(server, "SET", "k", "v")
        script = await _error_of(server, "EVAL", "redis.call('set', KEYS[1], 1)", 1, "k")
        await server.close()
    for error in (plain, script):
        assert out_of_memory(error)
        assert not transient(error)
        assert "memory" in describe(error)


async def test_a_busy_script_is_transient() -> None:
    with ServerProcess("valkey", options={"busy-reply-threshold": "50"}) as process:
        server, other = await open_server(process.url), await open_server(process.url)
        endless = asyncio.create_task(_error_of(server, "EVAL", "while true do end", 0))
        error = await wait_until_async(lambda: _error_if_any(other))
        await other.client.script_kill()
        await endless
        assert transient(error)
        assert "script" in describe(error)
        await server.close()
        await other.close()


async def _error_if_any(server: Server) -> Exception | None:
    try:
        await server.client.get("k")
    except exceptions.RedisError as error:
        return error
    return None


async def test_a_write_to_a_replica_is_transient_for_a_failover_may_be_on() -> None:
    with ServerProcess("redis", options={"replicaof": "127.0.0.1 1"}) as process:
        server = await open_server(process.url)
        error = await _error_of(server, "SET", "k", "v")
        await server.close()
    assert transient(error)
    assert "read-only" in describe(error)


async def test_a_dead_and_a_frozen_server_are_transient() -> None:
    with ServerProcess("valkey") as process:
        server = await open_server(process.url, timeout_s=0.2)
        process.pause()
        frozen = await _error_of(server, "GET", "k")
        process.resume()
        process.kill()
        dead = await _error_of(server, "GET", "k")
        await server.close()
    assert transient(frozen)
    assert describe(frozen) == "it does not answer in time"
    assert transient(dead)
    assert "no connection" in describe(dead)


@pytest.mark.parametrize("message", ["ERR wrong number", "WRONGTYPE nope", "NOSCRIPT gone"])
def test_a_mistake_is_not_transient(message: str) -> None:
    assert not transient(exceptions.ResponseError(message))
    assert not transient(ValueError(message))


@pytest.mark.parametrize("tcp", [False, True])
@pytest.mark.parametrize(
    ("cut", "times_run"),
    [
        (Cut.BEFORE_REQUEST, 0),
        (Cut.AFTER_REQUEST, 1),
        (Cut.MID_REPLY, 1),
        (Cut.SILENT_BEFORE, 0),
        (Cut.SILENT_AFTER, 1),
    ],
)
async def test_a_cut_call_fails_once_and_is_never_repeated_by_the_client(
    cut: Cut, times_run: int, tcp: bool
) -> None:
    with ServerProcess("valkey", tcp=tcp) as process, CutProxy(process.url) as proxy:
        server = await open_server(proxy.url, timeout_s=0.3)
        await server.client.get("warm")
        proxy.cut_next(cut, match=b"incr")
        error = await _error_of(server, "INCR", "n")
        assert transient(error)
        assert int(await server.client.get("n") or 0) == times_run
        assert await server.client.incr("n") == times_run + 1
        assert proxy.cuts == 1
        await server.close()


async def test_a_cluster_call_cut_by_a_dead_primary_is_raised_not_repeated(
    replicated_cluster: ClusterProcess,
) -> None:
    server = await open_server(replicated_cluster.url, timeout_s=2)
    await server.client.incr("n")
    await server.client.wait(1, 2000, target_nodes=server.client.get_node_from_key("n"))  # type: ignore[union-attr]
    before = await server.run_ids()
    replicated_cluster.primary_of("n").kill()
    assert transient(await _error_of(server, "INCR", "n"))
    assert await wait_until_async(lambda: _value(server, "n"), timeout_s=30) == 1
    assert await server.run_ids() != before
    await server.close()


async def _value(server: Server, key: str) -> int | None:
    try:
        return int(await server.client.get(key) or 0)
    except Exception as error:
        if not transient(error):
            raise
        return None
