"""Where dead letters are, over all shards, from the newest on.

Each shard has them in order of time and id; the shards' orders are merged as they are read.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, aclosing
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from skitter.frontier.places import Place
    from skitter.frontier.shards import Shards


class Mark(NamedTuple):
    """A dead letter that was there a moment ago. Marks compare as the listing goes."""

    at_ms: int
    id: str
    shard: int


async def walk_marks(
    shards: Shards, index: str, *, after: Place | None, at_once: int
) -> AsyncGenerator[Mark, None]:
    """All marks of an index, the newest first; at_once are read of a shard at a time."""
    async with AsyncExitStack() as stack:
        streams = [
            await stack.enter_async_context(aclosing(_of_shard(shards, n, index, after, at_once)))
            for n in range(shards.count)
        ]
        firsts = await asyncio.gather(*(anext(stream, None) for stream in streams))
        heads = {mark: stream for mark, stream in zip(firsts, streams, strict=True) if mark}
        while heads:
            newest = max(heads)
            yield newest
            stream = heads.pop(newest)
            if following := await anext(stream, None):
                heads[following] = stream


async def _of_shard(
    shards: Shards, shard: int, index: str, after: Place | None, at_once: int
) -> AsyncGenerator[Mark, None]:
    place: tuple[int | str, str] = after or ("", "")
    while True:
        reply = await shards.run(shard, "dead_after", index, at_once, *place, clocked=False)
        found = [
            Mark(int(float(at_ms)), letter.decode(), shard)
            for letter, at_ms in zip(reply[::2], reply[1::2], strict=True)
        ]
        for mark in found:
            yield mark
        if len(found) < at_once:
            return
        place = found[-1][:2]
