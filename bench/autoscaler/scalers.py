"""The policy, and two others to hold it against."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

from skitter.orchestrator.scaling_policy import Bounds, ScalingState, decide

if TYPE_CHECKING:
    from skitter.orchestrator.scaling_policy import Observed

BY_QUEUE = 1000
CALM_S = 60


class Scaler(Protocol):
    """Says how many workers there should be."""

    name: str

    def target(self, now: float, observed: Observed) -> int: ...


class Policy:
    """Skitter's own."""

    name = "policy"

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._state = ScalingState()

    def target(self, now: float, observed: Observed) -> int:
        decision = decide(now, observed, self._state, self._bounds)
        self._state = decision.state
        return decision.target


class QueueLength:
    """One worker for each thousand queued; it goes down after a minute, as is usual."""

    name = "queue length"

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._low_since: float | None = None

    def target(self, now: float, observed: Observed) -> int:
        present = observed.workers + observed.starting
        wanted = math.ceil((observed.queued + observed.in_hand) / BY_QUEUE)
        wanted = min(max(wanted, self._bounds.minimum), self._bounds.maximum)
        if wanted >= present:
            self._low_since = None
            return wanted
        self._low_since = now if self._low_since is None else self._low_since
        return wanted if now - self._low_since >= CALM_S else present


class Fixed:
    """As many as there may be, all day."""

    name = "fixed"

    def __init__(self, bounds: Bounds) -> None:
        self._number = bounds.maximum

    def target(self, now: float, observed: Observed) -> int:  # noqa: ARG002 - whatever comes
        return self._number
