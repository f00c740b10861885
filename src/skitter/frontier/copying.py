"""A copy of the frontier as it was at one moment, and the way back from it.

Children are queued before their parent is settled, so copies of shards that were made one after
the other could hold a settled parent without its children. So all writes wait, on all servers,
until all is copied (CLIENT PAUSE … WRITE): workers find the server slow for that time and go on.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ormsgpack
from redis.asyncio import RedisCluster
from redis.exceptions import RedisError, ResponseError

from skitter.errors import FrontierNotEmpty, PauseRefused, PauseTooShort

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from skitter.frontier.frontier import Frontier

PAUSE_S = 20.0  # less than a lease: longer, and requests in hand would be done again
SCANNED, ASKED, ENOUGH_BYTES = 5000, 500, 4 << 20
PASSING = (b"w:", b"ws", b"s:")  # heartbeats and replies of clients that are gone by then


@dataclass(frozen=True, slots=True)
class Copied:
    """A key: its shard, its name behind the shard's prefix, when it expires, the server's form."""

    shard: int
    name: bytes
    expires_ms: int
    form: bytes


class Copying:
    """Copies a frontier, or fills one."""

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier
        self._shards = frontier.shards
        self._client: Any = frontier.shards.server.client
        self._shard_of = {p.encode(): n for n, p in enumerate(frontier.shards.prefixes)}

    async def copy(self, take: Callable[[list[Copied]], None], *, longest_s: float) -> float:
        """Give all keys to `take`, as they were at one moment; how long writes waited, in seconds.

        Raises PauseTooShort if it takes longer than may be: then there is no such moment.
        """
        for shard in range(self._shards.count):  # known to the servers before writes have to wait
            await self._shards.run(shard, "dump", 0, ormsgpack.packb([]), clocked=False)
        begun = time.monotonic()
        async with self._paused(longest_s):
            for node in self._nodes():
                async for names in self._names(node):
                    await self._copy(names, take)
                    if time.monotonic() - begun > longest_s:
                        raise PauseTooShort(longest_s=longest_s)
        return time.monotonic() - begun

    async def is_empty(self) -> bool:
        """Whether there are no jobs here, live or ended."""
        prefixes = self._shards.prefixes
        return not int(await self._shards.command("EXISTS", f"{prefixes[0]}ids"))

    async def clear(self) -> None:
        """Delete all that is here."""
        for node in self._nodes():
            async for names in self._names(node):
                for shard, mine in names.items():
                    prefix = self._shards.prefixes[shard].encode()
                    for name in mine:
                        await self._shards.command("UNLINK", prefix + name)

    async def fill(self, copied: Iterable[list[Copied]]) -> int:
        """Write keys as they were; how many. Raises FrontierNotEmpty where there are jobs."""
        if not await self.is_empty():
            raise FrontierNotEmpty(server=self._shards.server.name)
        written = 0
        for batch in copied:
            await asyncio.gather(*(self._write(one) for one in batch))
            written += len(batch)
        return written

    async def revive(self) -> int:
        """After `fill`: hosts rest, and what workers had in hand is queued again; how much."""
        hosts: dict[int, list[str]] = {shard: [] for shard in range(self._shards.count)}
        workers: set[str] = set()
        for node in self._nodes():
            async for names in self._names(node):
                for shard, mine in names.items():
                    hosts[shard] += [n[2:].decode() for n in mine if n.startswith(b"h:")]
                    workers |= {n[2:].decode() for n in mine if n.startswith(b"l:")}
        for shard, found in hosts.items():
            for first in range(0, len(found) or 1, ASKED):
                data = ormsgpack.packb(found[first : first + ASKED])
                await self._shards.run(shard, "hold_hosts", data)
        return sum([await self._frontier.reap(worker) for worker in sorted(workers)])

    async def _copy(
        self, names: dict[int, list[bytes]], take: Callable[[list[Copied]], None]
    ) -> None:
        for shard, mine in names.items():
            kept = [name.decode() for name in mine if not name.startswith(PASSING)]
            while kept:
                data = ormsgpack.packb(kept[:ASKED])
                reply = await self._shards.run(shard, "dump", ENOUGH_BYTES, data, clocked=False)
                rows = reply[1:]
                take(
                    [
                        Copied(shard, rows[i], max(0, int(rows[i + 1])), rows[i + 2])
                        for i in range(0, len(rows), 3)
                    ]
                )
                kept = kept[int(reply[0]) :]

    async def _write(self, one: Copied) -> None:
        key = self._shards.prefixes[one.shard].encode() + one.name
        absolute = ["ABSTTL"] if one.expires_ms else []
        await self._shards.command("RESTORE", key, one.expires_ms, one.form, "REPLACE", *absolute)

    async def _names(self, node: dict[str, Any]) -> AsyncIterator[dict[int, list[bytes]]]:
        """All names of this frontier's keys on a server, some at a time, by shard."""
        pattern, cursor = "{" + self._shards.namespace + "*", 0
        while True:
            said = await self._client.execute_command(
                "SCAN", cursor, "MATCH", pattern, "COUNT", SCANNED, **node
            )
            cursor, keys = _scanned(said)
            found: dict[int, list[bytes]] = {}
            for key in keys:
                head, brace, name = key.partition(b"}")
                shard = self._shard_of.get(head + brace)
                if shard is not None:
                    found.setdefault(shard, []).append(name)
            if found:
                yield found
            if cursor == 0:
                return

    @asynccontextmanager
    async def _paused(self, longest_s: float) -> AsyncIterator[None]:
        """Let all writes on all servers wait; the servers end it by themselves after a while."""
        hold_ms = int(longest_s * 1000) + 1000
        try:
            try:
                for node in self._nodes():
                    await self._client.execute_command("CLIENT PAUSE", hold_ms, "WRITE", **node)
            except ResponseError as error:
                raise PauseRefused(server=self._shards.server.name, reason=str(error)) from error
            yield
        finally:
            for node in self._nodes():
                with suppress(RedisError, OSError):
                    await self._client.execute_command("CLIENT UNPAUSE", **node)

    def _nodes(self) -> list[dict[str, Any]]:
        if isinstance(self._client, RedisCluster):
            return [{"target_nodes": node} for node in self._client.get_primaries()]
        return [{}]


def _scanned(said: Any) -> tuple[int, list[bytes]]:
    """The cursor and the keys; a cluster client has a cursor for the node that it asked."""
    cursor, keys = said
    if isinstance(cursor, dict):
        [cursor] = cursor.values()
    return int(cursor), list(keys)
