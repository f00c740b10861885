"""Calls to shards: retried while the server is away, counted once however often they are sent.

A call of a session carries a sequence number; the shard keeps the last one's reply, so a repeat
after a cut connection changes nothing and gets the same answer. A session has one call under way
at a time in each channel; unlike operations have channels of their own and do not wait for each
other.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import defaultdict
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import ormsgpack
import structlog
from redis.asyncio import RedisCluster
from redis.exceptions import NoScriptError, RedisError, ResponseError

from skitter.errors import (
    BadReply,
    FrontierError,
    ServerFull,
    ServerUnavailable,
    ShardMismatch,
    StaleSequence,
)
from skitter.frontier.keys import prefix
from skitter.frontier.scripts import Script, script
from skitter.frontier.server import Waiting
from skitter.frontier.server_errors import TooFewReplicas, describe, out_of_memory, transient

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence

    from skitter.frontier.policy import Config
    from skitter.frontier.server import Server

log = structlog.get_logger(__name__)

HASHES_AT_ONCE = 100


class Shards:
    """All shards of a namespace on one server or cluster."""

    def __init__(
        self,
        server: Server,
        *,
        namespace: str,
        shards: int,
        worker: str,
        patience_s: float,
        wait_replicas: int = 0,
        wait_timeout_s: float = 1.0,
    ) -> None:
        self.server = server
        self.namespace = namespace
        self.count = shards
        self.worker = worker
        self.patience_s = patience_s
        self.wait_replicas = wait_replicas
        self.wait_timeout_ms = int(wait_timeout_s * 1000)
        self.clock: Callable[[], float] | None = None
        self.revive: Callable[[], object] | None = None
        self.config: Config
        self._durable: dict[str, bool] = {}
        self._locks: dict[tuple[int, str], asyncio.Lock] = defaultdict(asyncio.Lock)
        self._sequence: dict[tuple[int, str], int] = defaultdict(int)
        # A process that comes back under an old name starts sessions of its own.
        self._session = f"{worker}.{secrets.token_hex(4)}"
        self.prefixes = [prefix(namespace, n, shards) for n in range(shards)]

    def now_override(self) -> str:
        """A test's clock in ms, or an empty text for the server's."""
        return str(int(self.clock())) if self.clock else ""

    async def run(self, shard: int, name: str, *args: Any, clocked: bool = True) -> Any:
        """Run a script that may be repeated without harm."""
        head = (self.now_override(),) if clocked else ()
        return await self._persist(script(name), shard, (*head, *args))

    async def once(
        self, shard: int, channel: str, name: str, payload: list[Any], *args: Any
    ) -> Any:
        """Run a script that counts once: a repeat returns the first reply.

        args go beside the payload as they are: Lua's msgpack does not know bytes.
        """
        data = ormsgpack.packb(payload)
        key = (shard, channel)
        async with self._locks[key]:
            self._sequence[key] += 1
            head = (self.now_override(), f"{self._session}:{channel}", self._sequence[key], data)
            return await self._persist(script(name), shard, head + args)

    async def command(self, *args: Any) -> Any:
        """A plain command that may be repeated without harm."""
        return await self._retry(
            lambda: self.server.client.execute_command(*args), operation=str(args[0])
        )

    async def fields(self, key: str) -> dict[str, bytes]:
        """A hash, whole."""
        return as_fields(await self.command("HGETALL", key))

    async def hashes(self, shard: int, names: Sequence[str]) -> list[dict[str, bytes]]:
        """Hashes of a shard, whole, some at a time; empty where there is none."""
        found: list[dict[str, bytes]] = []
        for first in range(0, len(names), HASHES_AT_ONCE):
            part = ormsgpack.packb(list(names[first : first + HASHES_AT_ONCE]))
            found += map(as_fields, await self.run(shard, "hashes", part, clocked=False))
        return found

    async def scored(
        self, key: str, first: int, last: int, *, highest: bool = False
    ) -> list[tuple[str, float]]:
        """Members of a sorted set by rank, with their scores."""
        name = "ZREVRANGE" if highest else "ZRANGE"
        flat = await self.command(name, key, first, last, "WITHSCORES")
        return [(m.decode(), float(score)) for m, score in zip(flat[::2], flat[1::2], strict=True)]

    @property
    def servers_met(self) -> int:
        """How many servers there were so far: one more after a restart or a failover."""
        return len(self._durable)

    async def begin(self, config: Config, *, replace: bool = False) -> None:
        """Set the shards up, or learn their settings; notes a restart of their server."""
        self.config = config
        for shard in range(self.count):
            await self._retry(partial(self._begin, shard, replace=replace), operation="begin")

    async def replicate(self, shards: Iterable[int]) -> None:
        """Return when enough replicas have all that these shards were told before."""
        if self.wait_replicas:
            for shard in shards:
                await self._retry(partial(self._replicate, shard), operation="WAIT")

    async def _replicate(self, shard: int) -> None:
        """WAIT speaks of its own connection's last write, so it is given one."""
        key = f"{self.prefixes[shard]}m"
        # A command through the client first: it follows a slot that has moved.
        await self.server.client.execute_command("EXISTS", key)
        async with self._connection(shard) as connection:
            await connection.send_command("HINCRBY", key, "waits", 1)
            await connection.read_response()
            await connection.send_command("WAIT", self.wait_replicas, self.wait_timeout_ms)
            acknowledged = int(await connection.read_response())
        if acknowledged < self.wait_replicas:
            raise TooFewReplicas(
                f"{acknowledged} of {self.wait_replicas} replicas have the last writes"
            )

    @asynccontextmanager
    async def _connection(self, shard: int) -> AsyncIterator[Any]:
        client: Any = self.server.client
        if isinstance(client, RedisCluster):
            pool: Any = client.get_node_from_key(self.prefixes[shard])
            connection = pool.acquire_connection()
        else:
            pool = client.connection_pool
            connection = await pool.get_connection()
        try:
            yield connection
        except BaseException:
            await connection.disconnect()
            raise
        finally:
            released = pool.release(connection)
            if released is not None:
                await released

    async def _begin(self, shard: int, *, replace: bool) -> None:
        text = script("begin").text
        run_id, durable = await self._server_of(shard)
        reply = await self.server.client.execute_command(
            "EVAL", text, 1, self.prefixes[shard], self.now_override(), run_id, self.count,
            ormsgpack.packb(self.config.fields()), int(replace), int(durable),
        )  # fmt: skip
        recorded = int(reply[0])
        if recorded != self.count:
            raise ShardMismatch(namespace=self.namespace, recorded=recorded, wanted=self.count)
        self.config = self.config.standing(as_fields(reply[1:]))

    async def _server_of(self, shard: int) -> tuple[str, bool]:
        """The run id of a shard's server, and whether a restart of it can lose a write.

        A promoted replica may lack writes whatever its own settings are, so it is not durable.
        """
        node = self._node(shard)
        info = await self.server.client.info(**node)
        run_id = str(info["run_id"])
        if run_id not in self._durable:
            promoted = int(info.get("second_repl_offset", -1)) >= 0
            self._durable[run_id] = not promoted and await self._syncs_always(node)
        return run_id, self._durable[run_id]

    async def _syncs_always(self, node: dict[str, Any]) -> bool:
        try:
            found = await self.server.client.execute_command("CONFIG", "GET", "append*", **node)
        except ResponseError:  # a managed server that does not say is not believed
            return False
        said = as_fields(found)
        return said.get("appendonly") == b"yes" and said.get("appendfsync") == b"always"

    def _node(self, shard: int) -> dict[str, Any]:
        client = self.server.client
        if isinstance(client, RedisCluster):
            return {"target_nodes": client.get_node_from_key(self.prefixes[shard])}
        return {}

    async def _persist(self, code: Script, shard: int, args: tuple[Any, ...]) -> Any:
        return await self._retry(lambda: self._evaluate(code, shard, args), operation=code.name)

    async def _evaluate(self, code: Script, shard: int, args: tuple[Any, ...]) -> Any:
        """Run by digest. A server that does not know it was restarted: shards hear of it first."""
        execute = self.server.client.execute_command
        try:
            return await execute("EVALSHA", code.sha, 1, self.prefixes[shard], *args)
        except NoScriptError:
            node = self._node(shard)
            for other in range(self.count):
                if self._node(other) == node:
                    await self._begin(other, replace=False)
            return await execute("EVAL", code.text, 1, self.prefixes[shard], *args)

    async def _retry(self, attempt: Callable[[], Awaitable[Any]], *, operation: str) -> Any:
        started = time.monotonic()
        waiting = Waiting(server=self.server.name, log=log)
        while True:
            try:
                reply = await attempt()
                _heed_cancel()
                return reply
            except (TimeoutError, RedisError, OSError) as error:
                left_s = started + self.patience_s - time.monotonic()
                if not (transient(error) or out_of_memory(error)):
                    raise _final(error, operation) from error
                if left_s <= 0:
                    raise self._gave_up(error, started) from error
                _heed_cancel()
                await waiting.pause(error, left_s)
                if self.revive:
                    await asyncio.to_thread(self.revive)

    def _gave_up(self, error: Exception, started: float) -> FrontierError:
        if out_of_memory(error):
            return ServerFull(server=self.server.name)
        waited_s = round(time.monotonic() - started, 1)
        return ServerUnavailable(server=self.server.name, waited_s=waited_s, reason=describe(error))


def _heed_cancel() -> None:
    """The cluster client swallows a cancellation that comes while it looks for moved slots."""
    task = asyncio.current_task()
    if task and task.cancelling():
        raise asyncio.CancelledError


def as_fields(reply: Any) -> dict[str, bytes]:
    """A hash from a reply: a flat list from a script, a dictionary from the client."""
    pairs = reply.items() if isinstance(reply, dict) else zip(reply[::2], reply[1::2], strict=True)
    return {
        _text(name): value if isinstance(value, bytes) else str(value).encode()
        for name, value in pairs
    }


def _text(name: bytes | str) -> str:
    return name.decode() if isinstance(name, bytes) else name


def _final(error: Exception, operation: str) -> FrontierError:
    text = str(error)
    if text.startswith("STALESEQ"):
        words = text.split()
        return StaleSequence(sequence=words[2], worker="this", last=words[-1])
    if isinstance(error, ResponseError):
        return BadReply(operation=operation, reason=text)
    return BadReply(operation=operation, reason=describe(error))
