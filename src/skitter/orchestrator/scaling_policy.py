"""How many worker processes there should be. Pure: it is told the time and what was observed.

What decides is not the length of the queue but the hosts that may be asked now while nobody asks
them: a queue of one slow host is long, and more workers would only wait beside the first. Workers
are added while such hosts wait and the workers there are have their hands full; they go when fewer
could do the same for a while. Each wish must last before it counts, and each change is followed by
a rest, so that noise does not move anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

RESTING = "resting after a change"
Kind = Literal["idle", "waking", "starting", "worker-bound", "host-bound"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Observed:
    """A moment of the crawl.

    ready_hosts: hosts with something queued that may be asked now and that nobody has taken;
    overdue_s: how long the first of them has waited; next_s: until any host may be asked, None
    with nothing queued. busy and cpu are means over the workers, 1.0 for hands full and one core.
    """

    workers: int
    starting: int = 0
    queued: int = 0
    in_hand: int = 0
    ready_hosts: int = 0
    overdue_s: float = 0.0
    next_s: float | None = None
    drained_per_s: float = 0.0
    busy: float = 0.0
    cpu: float = 0.0
    memory_each: int = 0
    memory_left: int | None = None

    @property
    def load(self) -> float:
        """How full the workers' hands are, by whatever is scarcest."""
        return max(self.busy, self.cpu)


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounds:
    """What the policy keeps to."""

    minimum: int = 0
    maximum: int = 8
    high: float = 0.8
    aim: float = 0.6
    overdue_s: float = 2.0
    drain_s: float = 30.0
    up_after_s: float = 4.0
    up_rest_s: float = 10.0
    down_after_s: float = 60.0
    down_rest_s: float = 120.0
    idle_s: float = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class ScalingState:
    """What the policy remembers: since when it has wished what, and when it last changed."""

    pressed_since: float | None = None
    slack_since: float | None = None
    slack_need: int = 0
    idle_since: float | None = None
    raised_at: float = -math.inf
    lowered_at: float = -math.inf


@dataclass(frozen=True, slots=True)
class Decision:
    """How many workers there should be, why, and what to remember until the next question."""

    target: int
    kind: Kind
    reason: str
    state: ScalingState


def decide(now: float, observed: Observed, state: ScalingState, bounds: Bounds) -> Decision:
    """What to do now. The same as there is, while a wish has not lasted long enough."""
    kind = classify(observed, bounds)
    present = observed.workers + observed.starting
    state = _remember(now, kind, observed, state, bounds)
    target, reason = _wish(now, kind, observed, state, bounds)
    target = min(max(target, bounds.minimum), bounds.maximum)
    if target > present:
        return Decision(target, kind, reason, ScalingState(raised_at=now))
    if target < present:
        return Decision(target, kind, reason, replace(state, lowered_at=now, slack_since=None))
    return Decision(target, kind, reason, state)


def classify(observed: Observed, bounds: Bounds) -> Kind:
    """What the crawl is bound by."""
    due = observed.next_s is not None and observed.next_s < bounds.idle_s
    if not due and observed.in_hand == 0:
        return "idle"
    if observed.workers + observed.starting == 0:
        return "waking"
    if observed.starting:  # nobody knows yet what they will take on
        return "starting"
    waiting = observed.ready_hosts > 0 and observed.overdue_s >= bounds.overdue_s
    return "worker-bound" if waiting and observed.load >= bounds.high else "host-bound"


def _remember(
    now: float, kind: Kind, observed: Observed, state: ScalingState, bounds: Bounds
) -> ScalingState:
    need = needed(observed, bounds)
    slack = kind in {"host-bound", "idle"} and need < observed.workers
    return replace(
        state,
        pressed_since=_since(now, state.pressed_since, holds=kind == "worker-bound"),
        slack_since=_since(now, state.slack_since, holds=slack),
        slack_need=max(need, state.slack_need if state.slack_since is not None else 0),
        idle_since=_since(now, state.idle_since, holds=kind == "idle"),
    )


def needed(observed: Observed, bounds: Bounds) -> int:
    """How many workers would be well used with what those there are do now."""
    return max(1, math.ceil(round(observed.workers * observed.load / bounds.aim, 6)))


def _since(now: float, since: float | None, *, holds: bool) -> float | None:
    if not holds:
        return None
    return now if since is None else since


def _wish(
    now: float, kind: Kind, observed: Observed, state: ScalingState, bounds: Bounds
) -> tuple[int, str]:
    present = observed.workers + observed.starting
    if kind == "waking":
        return 1, "there is work and nobody at work"
    if _lasted(now, state.idle_since, bounds.idle_s):
        return bounds.minimum, f"nothing to do for {bounds.idle_s:g} s"
    changed_at = max(state.raised_at, state.lowered_at)
    if _lasted(now, state.pressed_since, bounds.up_after_s):
        rested = now - state.raised_at >= bounds.up_rest_s
        return _grown(observed, bounds) if rested else (present, RESTING)
    if _lasted(now, state.slack_since, bounds.down_after_s):
        rested = now - changed_at >= bounds.down_rest_s
        fewer = max(state.slack_need, math.ceil(present / 2))
        return (fewer, "fewer would do") if rested else (present, RESTING)
    return present, _at_rest(kind)


def _lasted(now: float, since: float | None, seconds: float) -> bool:
    return since is not None and now - since >= seconds


def _at_rest(kind: Kind) -> str:
    return {
        "idle": "nothing to do just now",
        "starting": "workers are starting",
        "worker-bound": "hosts wait for workers; not for long yet",
        "host-bound": "workers wait for hosts",
    }.get(kind, kind)


def _grown(observed: Observed, bounds: Bounds) -> tuple[int, str]:
    """At most twice as many, as the waiting hosts can feed, as the backlog needs, as fit."""
    now = observed.workers
    limits = {
        "twice as many at most": 2 * now,
        f"{observed.ready_hosts} hosts wait": now + _fed(observed),
        f"{observed.queued} queued, to be done in {bounds.drain_s:g} s": _drain(observed, bounds),
        "no memory for more": _fitting(observed),
    }
    reason = min(limits, key=limits.__getitem__)
    return max(now, limits[reason]), reason


def _fed(observed: Observed) -> int:
    """How many more workers the waiting hosts would keep as busy as those there are."""
    return math.ceil(observed.ready_hosts * observed.workers / max(1, observed.in_hand))


def _drain(observed: Observed, bounds: Bounds) -> int:
    each = observed.drained_per_s / max(1, observed.workers)
    return math.ceil(observed.queued / (bounds.drain_s * each)) if each > 0 else 1 << 30


def _fitting(observed: Observed) -> int:
    if observed.memory_left is None or observed.memory_each <= 0:
        return 1 << 30
    return observed.workers + max(0, observed.memory_left // observed.memory_each)
