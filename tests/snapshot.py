"""A frontier as its raw keys say, shard by shard: what a recount goes by.

SCAN and whole reads are fine here: a test's keyspace is small, and nothing else is to be believed.
What scripts packed holds raw bytes, which a strict reader refuses, so a script unpacks it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from skitter.frontier import Frontier

_UNPACK = """
local rows = {}
for i, value in ipairs(ARGV) do
  rows[i] = cmsgpack.unpack(value)
  for k = 1, #rows[i] do rows[i][k] = tostring(rows[i][k]) end
end
return rows
"""
_READERS = {
    b"hash": ("HGETALL",),
    b"zset": ("ZRANGE", 0, -1, "WITHSCORES"),
    b"set": ("SMEMBERS",),
    b"list": ("LRANGE", 0, -1),
    b"string": ("GET",),
}
_AT_ONCE = 500


class LeaseRecord(NamedTuple):
    worker: str
    token: str
    host: str
    no: str
    egress: str
    held: bool
    quota: bool


class Delayed(NamedTuple):
    host: str
    no: str


class Queue(NamedTuple):
    host: str
    no: str
    priority: str


@dataclass
class ShardSnapshot:
    """One shard. Hashes, zsets and sets are by the key's name without the shard's prefix."""

    number: int
    hashes: dict[str, dict[str, str]] = field(default_factory=dict)
    zsets: dict[str, dict[str, float]] = field(default_factory=dict)
    sets: dict[str, set[str]] = field(default_factory=dict)
    queues: dict[Queue, int] = field(default_factory=dict)
    strange: list[str] = field(default_factory=list)
    leases: list[LeaseRecord] = field(default_factory=list)
    delayed: list[Delayed] = field(default_factory=list)
    dead: dict[str, str] = field(default_factory=dict)

    def named(self, prefix: str) -> dict[str, dict[str, str]]:
        """Hashes whose name begins so, by the rest of their name."""
        return {k[len(prefix) :]: v for k, v in self.hashes.items() if k.startswith(prefix)}

    def ranked(self, prefix: str) -> dict[str, dict[str, float]]:
        """Sorted sets whose name begins so, by the rest of their name."""
        return {k[len(prefix) :]: v for k, v in self.zsets.items() if k.startswith(prefix)}


async def snapshot(frontier: Frontier) -> list[ShardSnapshot]:
    """All shards, key by key. The frontier must be at rest."""
    keys = await _keys(frontier)
    return [await _shard(frontier, n, keys[n]) for n in range(frontier.shards.count)]


async def _keys(frontier: Frontier) -> dict[int, list[bytes]]:
    shards = frontier.shards
    found: dict[int, list[bytes]] = defaultdict(list)
    nodes = {str(shards._node(n)): shards._node(n) for n in range(shards.count)}
    for node in nodes.values():
        cursor, names = 0, set[bytes]()
        while True:
            said, part = await shards.server.client.execute_command(
                "SCAN", cursor, "MATCH", f"{{{shards.namespace}*", "COUNT", 5000, **node
            )
            names.update(part)
            cursor = int(next(iter(said.values())) if isinstance(said, dict) else said)
            if cursor == 0:
                break
        for number, prefix in enumerate(shards.prefixes):
            found[number] += [name for name in names if name.startswith(prefix.encode())]
    return found


async def _shard(frontier: Frontier, number: int, keys: list[bytes]) -> ShardSnapshot:
    prefix = frontier.shards.prefixes[number]
    shard = ShardSnapshot(number)
    raw: dict[str, dict[bytes, bytes]] = {}
    for key, kind, value in await _values(frontier, sorted(keys)):
        name = key.decode("utf-8", "replace").removeprefix(prefix)
        if kind == b"list" and name.startswith("q:"):
            shard.queues[Queue(*name[2:].rsplit(":", 2))] = len(value)
        elif kind == b"hash":
            raw[name] = value
            shard.hashes[name] = {_text(k): _text(v) for k, v in value.items()}
        elif kind == b"zset":
            shard.zsets[name] = {_text(member): float(score) for member, score in value}
            if name == "z":
                rows = await _unpack(frontier, prefix, [member for member, _ in value])
                shard.delayed = [Delayed(_text(row[1]), _text(row[2])) for row in rows]
        elif kind == b"set":
            shard.sets[name] = {_text(member) for member in value}
        elif not (kind == b"string" and (name.startswith(("s:", "w:")) or name == "no")):
            shard.strange.append(f"{name} ({kind.decode()})")
    await _read_packed(frontier, shard, raw)
    return shard


async def _read_packed(
    frontier: Frontier, shard: ShardSnapshot, raw: dict[str, dict[bytes, bytes]]
) -> None:
    prefix = frontier.shards.prefixes[shard.number]
    for name, fields in raw.items():
        if name.startswith("l:"):
            rows = await _unpack(frontier, prefix, list(fields.values()))
            shard.leases += [
                _lease(name[2:], _text(token), row) for token, row in zip(fields, rows, strict=True)
            ]
    letters = raw.get("x", {})
    rows = await _unpack(frontier, prefix, list(letters.values()))
    shard.dead = {_text(i): _text(row[1]) for i, row in zip(letters, rows, strict=True)}


def _lease(worker: str, token: str, row: list[bytes]) -> LeaseRecord:
    host, no, _, egress, held, quota, _ = row
    return LeaseRecord(
        worker, token, _text(host), _text(no), _text(egress), held == b"1", quota == b"1"
    )


async def _values(frontier: Frontier, keys: list[bytes]) -> list[tuple[bytes, bytes, Any]]:
    """Each key with its type and its whole value; one that expired meanwhile is left out."""
    rows: list[tuple[bytes, bytes, Any]] = []
    for first in range(0, len(keys), _AT_ONCE):
        part = keys[first : first + _AT_ONCE]
        kinds = await _pipelined(frontier, [("TYPE", key) for key in part])
        alive = [(key, kind) for key, kind in zip(part, kinds, strict=True) if kind in _READERS]
        commands = [(_READERS[kind][0], key, *_READERS[kind][1:]) for key, kind in alive]
        values = await _pipelined(frontier, commands)
        rows += [
            (key, kind, _paired(kind, value))
            for (key, kind), value in zip(alive, values, strict=True)
        ]
    return rows


async def _pipelined(frontier: Frontier, commands: list[tuple[Any, ...]]) -> list[Any]:
    if not commands:
        return []
    pipeline: Any = frontier.shards.server.client.pipeline(transaction=False)
    for command in commands:
        pipeline.execute_command(*command)
    replies: list[Any] = await pipeline.execute()
    return replies


def _paired(kind: bytes, value: Any) -> Any:
    """The client's reply in one shape, whether it paired fields and scores by itself or not."""
    if kind == b"hash" and isinstance(value, list):
        return dict(zip(value[::2], value[1::2], strict=True))
    if kind == b"zset" and value and not isinstance(value[0], list | tuple):
        return list(zip(value[::2], value[1::2], strict=True))
    return value


async def _unpack(frontier: Frontier, key: str, values: list[bytes]) -> list[list[bytes]]:
    rows: list[list[bytes]] = []
    for first in range(0, len(values), _AT_ONCE):
        part = values[first : first + _AT_ONCE]
        rows += await frontier.shards.command("EVAL", _UNPACK, 1, key, *part)
    return rows


def _text(value: bytes | str | float) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
