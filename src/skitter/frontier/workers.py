"""Workers' heartbeats: what each is doing, kept as long as it goes on saying so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ormsgpack

if TYPE_CHECKING:
    from skitter.frontier.shards import Shards

REGISTER = 0  # the shard that knows all workers


class Workers:
    """Who is at work on this frontier."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def beat(self, name: str, fields: dict[str, Any], *, ttl_ms: int = 10_000) -> int:
        """Say what a worker is doing; how many workers there are. Values are what msgpack holds."""
        data = ormsgpack.packb(fields)
        return int(await self._shards.run(REGISTER, "beat", name, ttl_ms, data))

    async def forget(self, name: str, *, dead: bool = False) -> None:
        """A worker has ended: it is listed no more. One that is found dead counts as lost."""
        await self._shards.run(REGISTER, "beat", name, -1 if dead else 0, b"")

    async def lost(self, *, within_ms: int) -> dict[str, int]:
        """Workers that went without a word lately, and how many ms ago."""
        flat = await self._shards.run(REGISTER, "lost", within_ms)
        return {name.decode(): int(ago) for name, ago in zip(flat[::2], flat[1::2], strict=True)}

    async def list(self) -> list[dict[str, Any]]:
        """What each live worker said last, by name; the field `name` is among it."""
        prefix = self._shards.prefixes[REGISTER]
        names = [
            name.decode() for name in await self._shards.command("ZRANGE", f"{prefix}ws", 0, -1)
        ]
        if not names:
            return []
        said = await self._shards.command("MGET", *(f"{prefix}w:{name}" for name in names))
        found = [
            {"name": name} | ormsgpack.unpackb(data)
            for name, data in zip(names, said, strict=True)
            if data is not None
        ]
        return sorted(found, key=lambda fields: str(fields["name"]))
