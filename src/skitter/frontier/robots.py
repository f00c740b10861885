"""The robots.txt of every origin, kept once for all workers in its host's shard.

A text is fresh for a while and then forgotten. Where nothing fresh is known, the first to ask gets
the claim to fetch it, and the others wait for what it brings. What a text asks of its host's pace
is set in the same step that keeps it. A failure to get one is kept too, with how often it happened.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import ormsgpack

from skitter.frontier.job import politeness_unit
from skitter.frontier.keys import shard_of_host

if TYPE_CHECKING:
    from skitter.frontier.shards import Shards

MOST_BYTES = 8 << 20
FAILURES_KEPT_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class RobotsText:
    """What is known of one origin's robots.txt.

    fresh_ms: for how long it holds; 0: nothing is known, and failures tells how often in a row it
    could not be had. busy_ms: another worker is fetching it, and has so long. delay_ms: the
    Crawl-delay that whoever read it found.
    """

    fresh_ms: int
    failures: int = 0
    busy_ms: int = 0
    delay_ms: int = 0
    text: str = ""


class RobotsTexts:
    """Read and write them. An origin is `https://example.com` or `http://example.com:8080`."""

    def __init__(self, shards: Shards, *, unit: str) -> None:
        self._shards = shards
        self._unit = unit

    async def get(self, host: str, origin: str, *, claim_ms: int = 0) -> RobotsText:
        """What is known; with claim_ms, the caller is to fetch it unless the answer says busy."""
        _, shard = self._place(host)
        reply = await self._shards.run(shard, "robots_get", origin, claim_ms, self._shards.worker)
        fresh_ms, failures, busy_ms, delay_ms = map(int, reply[:4])
        try:
            text = _expand(reply[4])
        except zlib.error:  # nobody can read it: as if it were not there
            return RobotsText(0, failures=failures)
        return RobotsText(fresh_ms, failures, busy_ms, delay_ms, text)

    async def put(
        self, host: str, origin: str, text: str, *, fresh_ms: int, delay_ms: int = 0
    ) -> int:
        """Keep a text; its host is paced by it and no longer exclusive. The host's delay in ms."""
        name, shard = self._place(host)
        facts = ormsgpack.packb([fresh_ms, fresh_ms, 0, delay_ms])
        data = zlib.compress(text.encode()) if text else b""
        return int(await self._shards.run(shard, "robots_put", name, origin, facts, data))

    async def fail(self, host: str, origin: str, *, failures: int, wait_ms: int) -> None:
        """Note that it could not be had, and is not to be asked for again for a while."""
        name, shard = self._place(host)
        facts = ormsgpack.packb([wait_ms, wait_ms + FAILURES_KEPT_MS, failures, 0])
        await self._shards.run(shard, "robots_put", name, origin, facts, b"")

    async def hold(self, host: str, wait_ms: int) -> None:
        """Lease nothing of this host for a while, for any egress."""
        name, shard = self._place(host)
        await self._shards.run(shard, "robots_hold", name, wait_ms)

    async def unclaim(self, host: str, origin: str) -> None:
        """Let another one fetch it: nothing came of this caller's claim."""
        _, shard = self._place(host)
        await self._shards.command("HDEL", f"{self._shards.prefixes[shard]}t:{origin}", "a", "w")

    def _place(self, host: str) -> tuple[str, int]:
        """What has the host's clock, and its shard."""
        name = politeness_unit(host, self._unit)
        return name, shard_of_host(name, self._shards.count)


def _expand(data: bytes) -> str:
    if not data:
        return ""
    return zlib.decompressobj().decompress(data, MOST_BYTES).decode("utf-8", "replace")
