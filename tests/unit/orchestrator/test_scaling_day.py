"""The policy over the day of `make bench-autoscaler`, against a look at the queue alone."""

from __future__ import annotations

from bench.autoscaler.course import run
from bench.autoscaler.load import day
from bench.autoscaler.scalers import Policy, QueueLength
from skitter.orchestrator.scaling_policy import Bounds

BOUNDS = Bounds(minimum=0, maximum=32)
LOADS = 7  # two bursts, two recorded crawls, a slow host, and two hours before it


def test_a_day_has_few_changes_of_direction_and_few_worker_hours() -> None:
    arrivals = day(seed=7)
    policy, by_queue = (run(scaler, arrivals) for scaler in (Policy(BOUNDS), QueueLength(BOUNDS)))
    assert policy.most == BOUNDS.maximum  # the bursts are met with all there is
    assert policy.turns <= 2 * LOADS
    assert policy.turns < by_queue.turns
    assert policy.worker_s < by_queue.worker_s / 5  # the slow host's queue costs one worker
    assert policy.workers[60 * 5] == 1
