"""Start messages in Redis, as scrapy-redis keeps them, taken without being lost.

A message that is taken lies in a batch beside its key until it is settled: its request is in the
frontier, or it is put aside, or put back. A batch whose worker died is taken over by another. A
message keeps its id on the way, so that its request is queued once, however often it is tried.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from redis.asyncio import Redis

IN_HAND_MS = 5_000
MOST_BAD = 10_000


@dataclass(frozen=True, slots=True)
class Message:
    """One start message: its id, where it comes from (list, set, zset), its score, its bytes."""

    id: str
    kind: str
    score: float
    data: bytes


@dataclass(frozen=True, slots=True)
class Batch:
    """Messages in hand together."""

    name: str
    messages: tuple[Message, ...]


class StartUrls:
    """The messages of one key. Beside it: `<key>:taken`, `<key>:taken:…` and `<key>:bad`."""

    def __init__(self, client: Redis, key: str, *, in_hand_ms: int = IN_HAND_MS) -> None:
        self.key = key
        self._client = client
        self._in_hand_ms = in_hand_ms
        self._taken = f"{key}:taken"
        self._take = client.register_script(_read("take.lua"))
        self._take_over = client.register_script(_read("take_over.lua"))

    async def take(self, count: int) -> Batch | None:
        """Up to so many of what is waiting: the head of a list, the highest scores of a zset."""
        name = secrets.token_hex(8)
        keys = [self.key, self._taken, self._batch_key(name)]
        rows: Any = await self._take(keys, [count, name, self._in_hand_ms])
        return _batch(name, rows) if rows else None

    async def take_over(self) -> Batch | None:
        """A batch that somebody left behind, if there is one."""
        found: Any = await self._take_over([self._taken], [self._batch_key(""), self._in_hand_ms])
        return _batch(found[0].decode(), found[1]) if found else None

    async def settle(
        self, batch: Batch, *, bad: Sequence[Message] = (), back: Sequence[Message] = ()
    ) -> None:
        """All of a batch is dealt with: put some aside, some back, and forget the rest."""
        async with self._client.pipeline(transaction=True) as pipe:
            if bad:
                pipe.rpush(f"{self.key}:bad", *(message.data for message in bad))
                pipe.ltrim(f"{self.key}:bad", -MOST_BAD, -1)
            self._put_back(pipe, back)
            pipe.delete(self._batch_key(batch.name))
            pipe.zrem(self._taken, batch.name)
            await pipe.execute()

    async def close(self) -> None:
        """Close the connection."""
        await self._client.aclose()

    def _put_back(self, pipe: Any, messages: Sequence[Message]) -> None:
        """Where they came from; those of a list to its head, in their order."""
        for message in reversed(messages):
            if message.kind == "l":
                pipe.lpush(self.key, message.data)
            elif message.kind == "s":
                pipe.sadd(self.key, message.data)
            else:
                pipe.zadd(self.key, {message.data: message.score})

    def _batch_key(self, name: str) -> str:
        return f"{self._taken}:{name}"


def _batch(name: str, rows: Sequence[bytes]) -> Batch:
    return Batch(name, tuple(sorted(_messages(name, rows), key=_number)))


def _messages(batch: str, rows: Sequence[bytes]) -> Iterable[Message]:
    for field, data in zip(rows[::2], rows[1::2], strict=True):
        number, kind, score = field.decode().split(":")
        yield Message(f"{batch}:{number}", kind, float(score), data)


def _number(message: Message) -> int:
    return int(message.id.rpartition(":")[2])


def _read(name: str) -> str:
    return (files("skitter.compat.scrapy_redis") / "lua" / name).read_text(encoding="utf-8")
