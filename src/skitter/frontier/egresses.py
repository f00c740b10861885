"""How egresses stand, for all workers: failures in a row, cool-downs, and who tries one anew.

All of it lies in the first shard. A standing is an egress's as a whole, or its standing at one
host that banned it. Every change has a version, so that a worker that asks every so often is told
what is new and nothing else. Times pass as what is left of them: workers' clocks need not agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ormsgpack

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skitter.frontier.hosts import Hosts
    from skitter.frontier.shards import Shards

_HOME = 0
_ROWS = 1000


@dataclass(frozen=True, slots=True)
class CooldownRules:
    """After how many failures in a row an egress cools down, for how long at first and at most."""

    fails: int
    cooldown_ms: int
    most_ms: int


@dataclass(frozen=True, slots=True)
class Strike:
    """What an egress did: as a whole, or at the host that is named."""

    egress: str
    host: str = ""
    fine: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """level is how many cool-downs came in a row; left_ms how much of the last is left."""

    egress: str
    host: str
    fails: int
    level: int
    left_ms: int


class Egresses:
    """Tell the others how egresses do, and hear it from them."""

    def __init__(self, shards: Shards, hosts: Hosts) -> None:
        self._shards = shards
        self._hosts = hosts

    async def strike(self, strikes: Sequence[Strike], *, rules: CooldownRules) -> list[Standing]:
        """Note what egresses did, each once; how they stand after that, in the same order."""
        events = [[_name(strike.egress, strike.host), int(strike.fine)] for strike in strikes]
        payload = [events, [rules.fails, rules.cooldown_ms, rules.most_ms]]
        return _standings(await self._shards.once(_HOME, "egress", "egress_strike", payload))

    async def news(self, since: int) -> tuple[int, list[Standing]]:
        """The version now, and all that stands otherwise than at a version; 0 is the beginning."""
        found: list[Standing] = []
        while True:
            version, rows = await self._shards.run(_HOME, "egress_news", since, _ROWS)
            found += _standings(rows)
            if len(rows) < 4 * _ROWS:
                return int(version), found
            since = int(version)

    async def try_again(self, egresses: Sequence[str], *, trial_ms: int) -> list[str]:
        """Those that this worker alone may try, for so long, now that their cool-down is over."""
        names = ormsgpack.packb(list(egresses))
        worker = self._shards.worker
        answers = await self._shards.run(_HOME, "egress_trial", worker, trial_ms, names)
        return [name for name, may in zip(egresses, answers, strict=True) if int(may)]

    async def bar(self, host: str, egress: str, ms: int) -> int:
        """Let no lease come for this pair; see `Hosts.bar`."""
        return await self._hosts.bar(host, egress, ms)

    async def retire(self, egresses: Iterable[str]) -> None:
        """No host waits for these any more: else each would count as ready for who is not there."""
        names = list(egresses)
        for prefix in self._shards.prefixes if names else ():
            await self._shards.command("ZREM", f"{prefix}e", *names)


def _name(egress: str, host: str) -> str:
    return f"{egress} {host}" if host else egress


def _standings(flat: list[Any]) -> list[Standing]:
    return [_standing(*flat[i : i + 4]) for i in range(0, len(flat), 4)]


def _standing(name: bytes, fails: Any, level: Any, left_ms: Any) -> Standing:
    egress, _, host = name.decode().partition(" ")
    return Standing(egress, host, int(fails), int(level), int(left_ms))
