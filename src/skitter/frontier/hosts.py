"""Hosts: their policies, set while they are crawled, their state, and which are at the top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import ormsgpack

from skitter.frontier.job import politeness_unit
from skitter.frontier.keys import shard_of_host
from skitter.frontier.shards import as_fields

if TYPE_CHECKING:
    from skitter.frontier.policy import HostPolicy
    from skitter.frontier.shards import Shards

Ranking = Literal["queued", "fetched", "failed"]
_INDEXES = {"queued": "hp", "fetched": "hf", "failed": "hx"}


@dataclass(frozen=True, slots=True)
class HostState:
    """A host as its shard has it now. clock_ms is when it may be asked next (server ms).

    The last fields are its own policy and what its jobs wish; None where nobody said anything.
    """

    host: str
    queued: int
    fetching: int
    clock_ms: int
    fetched: int
    failed: int
    latency_ms: int
    adaptive_delay_ms: int
    crawl_delay_ms: int
    robots_known_until_ms: int
    blocked: bool
    delay_ms: int | None = None
    concurrency: int | None = None
    budget: int | None = None
    budget_ms: int | None = None
    job_delay_ms: int | None = None
    job_concurrency: int | None = None


class Hosts:
    """Ask about hosts, and change how they are asked."""

    def __init__(self, shards: Shards, *, unit: str) -> None:
        self._shards = shards
        self._unit = unit

    def unit_of(self, host: str) -> str:
        """What a host's clock is kept for: the host, or by setting its registered domain."""
        return politeness_unit(host, self._unit)

    async def set_policy(self, host: str, policy: HostPolicy) -> int:
        """Set what the policy names, at once for all workers; the host's delay in ms."""
        name = self.unit_of(host)
        shard = shard_of_host(name, self._shards.count)
        return int(await self._shards.run(shard, "policy", name, ormsgpack.packb(policy.fields())))

    async def clear_policy(self, host: str) -> int:
        """Go back to the settings' delay, concurrency and budget; the host's delay in ms."""
        name = self.unit_of(host)
        shard = shard_of_host(name, self._shards.count)
        fields = dict.fromkeys(("pd", "pc", "bm", "bp", "bl"), False)
        return int(await self._shards.run(shard, "policy", name, ormsgpack.packb(fields)))

    async def bar(self, host: str, egress: str, ms: int) -> int:
        """Let no lease come for this host and egress for so long; for how many ms it is barred.

        No longer than the longest Retry-After that is obeyed: a longer bar has to be renewed.
        """
        name = self.unit_of(host)
        shard = shard_of_host(name, self._shards.count)
        return int(await self._shards.run(shard, "bar", name, egress, ms))

    async def state(self, host: str) -> HostState:
        """A host's state; one that was never met has zeros."""
        name = self.unit_of(host)
        return (await self._states(shard_of_host(name, self._shards.count), [name]))[0]

    async def ranking(self, by: Ranking = "queued", *, limit: int = 20) -> list[HostState]:
        """The hosts at the top, from an index that is right within a factor of two near its end.

        In the index of queued requests, a host of several jobs has at least its longest queue.
        """
        states: list[HostState] = []
        for shard, prefix in enumerate(self._shards.prefixes):
            key = f"{prefix}{_INDEXES[by]}"
            top = await self._shards.scored(key, 0, 2 * limit - 1, highest=True)
            states += await self._states(shard, [name for name, _ in top])
        return sorted(states, key=lambda state: int(getattr(state, by)), reverse=True)[:limit]

    async def _states(self, shard: int, names: list[str]) -> list[HostState]:
        flat = await self._shards.run(shard, "hosts", ormsgpack.packb(names)) if names else []
        return [
            _state(name, as_fields(fields), queued=int(queued))
            for name, queued, fields in zip(names, flat[::2], flat[1::2], strict=True)
        ]


def _state(host: str, fields: dict[str, bytes], *, queued: int) -> HostState:
    def number(name: str) -> int:
        return int(float(fields.get(name, b"0")))

    def said(name: str) -> int | None:
        return number(name) if name in fields else None

    return HostState(
        host=host,
        queued=queued,
        fetching=sum(
            int(value) for name, value in fields.items() if name == "o" or name.startswith("o:")
        ),
        clock_ms=number("c"),
        fetched=number("f"),
        failed=number("x"),
        latency_ms=number("ll"),
        adaptive_delay_ms=number("ad"),
        crawl_delay_ms=number("cd"),
        robots_known_until_ms=number("rk"),
        blocked="bl" in fields,
        delay_ms=said("pd"),
        concurrency=said("pc"),
        budget=said("bm"),
        budget_ms=said("bp"),
        job_delay_ms=said("jd"),
        job_concurrency=said("jc"),
    )
