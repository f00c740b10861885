"""Faults that the suite plants in the frontier of its own processes, and must find.

A plant changes the text of scripts, or a function, in the process that is told its name; src knows
nothing of it. Each says which findings betray it and which disturbances bring it out.
The skew is no fault: it lets a round set the server's clock, which the real scripts must bear.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha1
from typing import Any

from skitter.frontier import frontier, shards
from skitter.frontier.scripts import Script
from skitter.frontier.scripts import script as real_script

SKEW_KEY = "chaos-skew-ms"
SKEWED = "local last, off = tonumber(kept[1])"


@dataclass(frozen=True)
class Plant:
    """found_by: any of these findings; stirred_by: disturbances that its rounds have for sure."""

    name: str
    found_by: tuple[str, ...]
    stirred_by: tuple[str, ...] = ()
    edits: tuple[tuple[str, str, str], ...] = ()
    """(script, or * for all; text; what stands there instead)"""
    install: Callable[[], None] | None = None


def constant_nonce() -> None:
    class Unsecret:
        @staticmethod
        def token_hex(size: int) -> str:
            return "0" * 2 * size

    vars(frontier)["secrets"] = Unsecret


def settle_before_children() -> None:
    """The parent counts as done before its children are queued, and a crash comes between."""
    real = frontier.Frontier.settle

    async def settle(self: frontier.Frontier, settlements: list[Any]) -> list[bool]:
        children = [(s.lease.request, s.children) for s in settlements]
        for settlement in settlements:
            settlement.children = []
        answers = await real(self, settlements)
        if any(made for _, made in children) and os.urandom(1)[0] < 25:
            os.kill(os.getpid(), signal.SIGKILL)
        for parent, made in children:
            await self.add(made, parent=parent)
        return answers

    frontier.Frontier.settle = settle  # type: ignore[method-assign,assignment]


PLANTS = {
    plant.name: plant
    for plant in (
        Plant(
            "fencing dropped",
            found_by=("stale_accepted",),
            stirred_by=("stop client",) * 4,
            edits=(
                (
                    "reap",
                    "redis.call('HDEL', P .. 'l:' .. worker, unpack(tokens, first, last))",
                    "",
                ),
            ),
        ),
        Plant(
            "tokens reused",
            found_by=("tokens_reused",),
            install=constant_nonce,
        ),
        Plant(
            "children skipped",
            found_by=("lost",),
            install=settle_before_children,
        ),
        Plant(
            "clock turned back",
            found_by=("stalled",),
            stirred_by=("turn clock back", "kill client", "kill client"),
            edits=(("*", "if raw < last then", "if false then"),),
        ),
        Plant(
            "leap reaps at once",
            found_by=("double_live", "stale_accepted"),
            stirred_by=("turn clock forward",) * 4,
            edits=(("*", "NAP = now + CFG.lease", "NAP = 0"),),
        ),
        Plant(
            "reap keeps the host's clock",
            found_by=("gaps_under_policy", "concurrency_over_policy"),
            stirred_by=("kill in flight",) * 6,
            edits=(("reap", "{0, -1, -1, blind}", "nil"),),
        ),
        Plant(
            "seen but not queued",
            found_by=("lost",),
            edits=(
                (
                    "add",
                    "new = new + 1",
                    "if remainder(fingerprint, 9) > 0 then new = new + 1 end",
                ),
            ),
        ),
        Plant(
            "turn not exclusive",
            found_by=("gaps_under_policy", "concurrency_over_policy"),
            edits=(("lease", "put(h, 'o' .. suffix(egress), out_of(h, egress) + taken)", ""),),
        ),
        Plant(
            "counter drifts",
            found_by=("counter_mismatches",),
            edits=(("release", "tally(r.no, 'le', -1)", ""),),
        ),
        Plant(
            "reaped too early",
            found_by=("double_live", "stale_accepted"),
            edits=(("reap", "'-inf', now, 'LIMIT'", "'-inf', now + CFG.lease * 0.9, 'LIMIT'"),),
        ),
        Plant(
            "leased but still queued",
            found_by=("double_live",),
            edits=(
                (
                    "lease",
                    "redis.call('LPOP', key, room)",
                    "redis.call('LRANGE', key, 0, room - 1); redis.call('LTRIM', key, 1, -1)",
                ),
            ),
        ),
        Plant(
            "repeats run again",
            found_by=("refused_live", "lost"),
            stirred_by=("cut at settle",) * 8,
            edits=(("*", "if last == SEQ then return", "if false then return"),),
        ),
    )
}


def install(name: str, *, skewed: bool) -> None:
    """Change this process's frontier: a plant, a clock that can be set, both or none."""
    plant = PLANTS[name] if name else Plant("", ())
    if plant.install:
        plant.install()
    if plant.edits or skewed:
        cache: dict[str, Script] = {}

        def edited(wanted: str) -> Script:
            if wanted not in cache:
                cache[wanted] = _edit(real_script(wanted), plant, skewed=skewed)
            return cache[wanted]

        vars(shards)["script"] = edited


def check_edits() -> None:
    """Raises LookupError where a text is gone from its script: the plant would plant nothing."""
    edits = [edit[:2] for plant in PLANTS.values() for edit in plant.edits]
    for script, old in [*edits, ("*", SKEWED)]:
        if old not in real_script("lease" if script == "*" else script).text:
            raise LookupError(f"{script}.lua has no {old!r} any more")


def _edit(code: Script, plant: Plant, *, skewed: bool) -> Script:
    text = code.text
    for script, old, new in plant.edits:
        if script in (code.name, "*"):
            text = text.replace(old, new)
    if skewed:
        skew = f"raw = raw + (tonumber(redis.call('GET', '{SKEW_KEY}')) or 0)"
        text = text.replace(SKEWED, f"{skew}\n{SKEWED}")
    return Script(code.name, text, sha1(text.encode(), usedforsecurity=False).hexdigest())
