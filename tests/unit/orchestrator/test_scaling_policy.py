from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from skitter.orchestrator.scaling_policy import (
    Bounds,
    Decision,
    Kind,
    Observed,
    ScalingState,
    classify,
    decide,
)

BOUNDS = Bounds(minimum=0, maximum=10)
IDLE = Observed(workers=2)
WAITING = Observed(workers=0, queued=1000, ready_hosts=50, overdue_s=9, next_s=0)
PRESSED = Observed(
    workers=2,
    queued=100_000,
    in_hand=500,
    ready_hosts=2000,
    overdue_s=20,
    next_s=0,
    drained_per_s=200,
    busy=1.0,
    cpu=0.5,
)
POLITE = replace(PRESSED, ready_hosts=0, overdue_s=0, in_hand=5, busy=0.02, cpu=0.01, workers=1)
LIGHT = replace(PRESSED, ready_hosts=0, overdue_s=0, in_hand=90, busy=0.2, cpu=0.1, workers=4)


class Course:
    """Asks the policy every two seconds, and does as it says."""

    def __init__(self, bounds: Bounds = BOUNDS) -> None:
        self.bounds = bounds
        self.now = 0.0
        self.state = ScalingState()
        self.last: Decision | None = None
        self.counts: list[int] = []

    def see(self, observed: Observed, *, seconds: float) -> int:
        """The number of workers after so long; those that are started are at work at once."""
        workers = observed.workers
        until = self.now + seconds
        while self.now < until:
            self.now += 2
            seen = replace(observed, workers=workers)
            self.last = decide(self.now, seen, self.state, self.bounds)
            self.state, workers = self.last.state, self.last.target
            self.counts.append(workers)
        return workers

    @property
    def turns(self) -> int:
        """How often the number went the other way."""
        steps = [b - a for a, b in pairwise(self.counts) if b != a]
        return sum((a > 0) != (b > 0) for a, b in pairwise(steps))


@pytest.mark.parametrize(
    ("observed", "kind"),
    [
        (IDLE, "idle"),
        (replace(IDLE, queued=9, next_s=3600), "idle"),
        (replace(IDLE, in_hand=1), "host-bound"),
        (WAITING, "waking"),
        (replace(WAITING, starting=1), "starting"),
        (replace(PRESSED, starting=1), "starting"),
        (PRESSED, "worker-bound"),
        (replace(PRESSED, busy=0.1, cpu=0.9), "worker-bound"),
        (replace(PRESSED, busy=0.1, cpu=0.1), "host-bound"),
        (replace(PRESSED, overdue_s=0.5), "host-bound"),
        (replace(PRESSED, ready_hosts=0), "host-bound"),
        (POLITE, "host-bound"),
    ],
)
def test_what_a_crawl_is_bound_by(observed: Observed, kind: Kind) -> None:
    assert classify(observed, BOUNDS) == kind


@pytest.mark.parametrize(
    ("observed", "seconds", "workers"),
    [
        (WAITING, 2, 1),  # from zero at once
        (PRESSED, 2, 2),  # not for a moment's pressure
        (PRESSED, 6, 4),  # twice as many when it lasts
        (PRESSED, 14, 4),  # and a rest between
        (PRESSED, 40, 10),  # no more than the most
        (POLITE, 3600, 1),  # a long queue of a slow host moves nothing
        (replace(POLITE, queued=10_000_000), 3600, 1),
        (replace(PRESSED, ready_hosts=3), 6, 3),  # as many as the waiting hosts can feed
        (replace(PRESSED, queued=5000), 60, 2),  # done soon enough with those there are
        (replace(PRESSED, memory_each=100, memory_left=150), 6, 3),  # as many as fit
        (replace(PRESSED, memory_each=100, memory_left=-5), 60, 2),
        (LIGHT, 58, 4),  # not at the first lull
        (LIGHT, 70, 2),  # at most half of them go at a time
        (IDLE, 58, 2),
        (IDLE, 62, 0),  # idle: none
    ],
)
def test_workers_after_a_while(observed: Observed, seconds: float, workers: int) -> None:
    assert Course().see(observed, seconds=seconds) == workers


def test_the_bounds_hold() -> None:
    course = Course(Bounds(minimum=2, maximum=3))
    assert course.see(replace(IDLE, workers=0), seconds=2) == 2
    assert course.see(PRESSED, seconds=300) == 3
    assert course.see(replace(IDLE, workers=3), seconds=300) == 2


def test_the_most_falls_at_once_when_it_is_lowered() -> None:
    assert Course(Bounds(maximum=3)).see(replace(PRESSED, workers=8), seconds=2) == 3


def test_a_lull_keeps_what_its_busiest_moment_needed() -> None:
    course = Course()
    course.see(replace(LIGHT, workers=8), seconds=40)
    course.see(replace(LIGHT, workers=8, busy=0.5), seconds=2)
    assert course.see(replace(LIGHT, workers=8), seconds=20) == 7


def test_a_burst_goes_up_and_down_once() -> None:
    course = Course()
    course.see(WAITING, seconds=2)
    most = course.see(replace(PRESSED, workers=1), seconds=60)
    assert most == 10
    course.see(replace(LIGHT, workers=most), seconds=600)
    assert course.see(replace(IDLE, workers=course.counts[-1]), seconds=90) == 0
    assert course.turns == 1


def test_noise_around_the_threshold_moves_little() -> None:
    course = Course()
    workers = 4
    for step in range(900):
        busy = 0.9 if step % 2 else 0.5
        overdue_s = 3.0 if step % 2 else 0.0
        seen = replace(PRESSED, workers=workers, busy=busy, overdue_s=overdue_s)
        workers = course.see(seen, seconds=2)
    assert course.turns == 0
    assert workers == 4


@pytest.mark.parametrize(
    ("observed", "seconds", "reason"),
    [
        (POLITE, 2, "workers wait for hosts"),
        (WAITING, 2, "there is work and nobody at work"),
        (replace(PRESSED, ready_hosts=3), 4, "hosts wait for workers; not for long yet"),
        (replace(PRESSED, ready_hosts=3), 6, "3 hosts wait"),
        (replace(PRESSED, memory_each=9, memory_left=0), 6, "no memory for more"),
        (IDLE, 70, "nothing to do for 60 s"),
    ],
)
def test_it_says_why(observed: Observed, seconds: float, reason: str) -> None:
    course = Course()
    course.see(observed, seconds=seconds)
    assert course.last is not None
    assert course.last.reason == reason
