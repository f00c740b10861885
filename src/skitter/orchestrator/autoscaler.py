"""The scaling loop: looks, asks the policy, and tells a driver how many workers to have."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

import structlog

from skitter.orchestrator.scaling_policy import Bounds, Decision, ScalingState, decide

if TYPE_CHECKING:
    from collections.abc import Callable

    from skitter.orchestrator.observing import Observer
    from skitter.settings.orchestration import AutoscaleSettings

log = structlog.get_logger(__name__)


class Driver(Protocol):
    """Where workers come from. Both are cheap, and bear being asked again and again."""

    async def current(self) -> int:
        """How many workers there are to be now, started or starting."""

    async def scale_to(self, number: int) -> None:
        """Have so many; those too many finish what they have begun."""


class Autoscaler:
    """clock is for tests."""

    def __init__(
        self,
        observer: Observer,
        driver: Driver,
        bounds: Bounds,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._observer = observer
        self._driver = driver
        self._bounds = bounds
        self._clock = clock
        self._state = ScalingState()
        self.last: Decision | None = None
        self.steps: list[int] = []

    async def tend(self) -> int:
        """One decision; by how much the number changed."""
        present = await self._driver.current()
        observed = await self._observer.look(present=present)
        decision = decide(self._clock(), observed, self._state, self._bounds)
        self._state = decision.state
        self.last = decision
        if decision.target != present:
            log.info("workers", of=present, to=decision.target, why=decision.reason)
            self.steps = [*self.steps[-99:], decision.target - present]
            await self._driver.scale_to(decision.target)
        return decision.target - present


def bounds_of(settings: AutoscaleSettings, *, cores: int) -> Bounds:
    """The bounds that the settings describe."""
    return Bounds(
        minimum=settings.minimum,
        maximum=settings.maximum or max(cores, settings.minimum),
        drain_s=settings.drain_s,
        up_after_s=settings.up_after_s,
        up_rest_s=settings.up_rest_s,
        down_after_s=settings.down_after_s,
        down_rest_s=settings.down_rest_s,
        idle_s=settings.idle_s,
    )
