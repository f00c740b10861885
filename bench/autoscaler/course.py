"""A day with one scaler, and the figures of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from bench.autoscaler.load import DAY_S, Arrival, kinds
from bench.autoscaler.model import World

if TYPE_CHECKING:
    from bench.autoscaler.scalers import Scaler

TICK_S = 2
SAMPLE_S = 60


@dataclass
class Course:
    """What became of the day. Samples are a minute apart."""

    name: str
    workers: list[int] = field(default_factory=list)
    queued: list[float] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    worker_s: float = 0.0
    backlog_s: float = 0.0
    quick_backlog_s: float = 0.0
    most: int = 0

    @property
    def turns(self) -> int:
        """Changes of direction."""
        return sum((before > 0) != (after > 0) for before, after in pairwise(self.steps))

    def figures(self) -> dict[str, float]:
        """For the report. The slow host's queue is the same whatever is done: it is set apart."""
        return {
            "changes": len(self.steps),
            "changes_of_direction": self.turns,
            "most_workers": self.most,
            "worker_hours": round(self.worker_s / 3600, 2),
            "backlog_request_hours": round(self.backlog_s / 3600),
            "backlog_without_the_slow_host_request_hours": round(self.quick_backlog_s / 3600),
        }


def run(scaler: Scaler, arrivals: list[Arrival]) -> Course:
    """The day, second by second."""
    hosts = kinds()
    by_name = {kind.name: kind for kind in hosts}
    world, course, at = World(hosts), Course(scaler.name), 0
    for second in range(DAY_S):
        while at < len(arrivals) and arrivals[at].second == second:
            by_name[arrivals[at].kind].queued += arrivals[at].number
            at += 1
        world.pass_second()
        if second % TICK_S == 0:
            _scale(world, scaler, course, second)
        _note(world, course, second, slow=by_name["slow"].queued)
    return course


def _scale(world: World, scaler: Scaler, course: Course, now: int) -> None:
    before = world.workers + len(world.starting)
    target = scaler.target(float(now), world.observed())
    if target != before:
        course.steps.append(target - before)
        world.scale_to(target)


def _note(world: World, course: Course, second: int, *, slow: float) -> None:
    there = world.workers + len(world.starting) + len(world.ending)
    course.worker_s += there
    course.most = max(course.most, there)
    course.backlog_s += world.queued
    course.quick_backlog_s += world.queued - slow
    if second % SAMPLE_S == 0:
        course.workers.append(world.workers + len(world.starting))
        course.queued.append(world.queued)
