"""A crawl by its rates, second by second: hosts with a pace, workers with hands and a core.

Hosts of one kind are alike. A host with a delay gives a page in (delay + latency); without one,
`together` pages at once. A worker holds so many leases, and needs CPU for each page.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from skitter.orchestrator.scaling_policy import Observed

IN_HAND = 256
SLOTS = 64
CPU_S = 0.0025
TURN_S = 5.0
START_S, END_S = 5, 3
SETTLE = 0.2  # of a new reading in a mean, as a heartbeat's window makes it


@dataclass(kw_only=True)
class Hosts:
    """Hosts of one kind, and what is queued for them."""

    name: str
    number: int
    delay_s: float
    latency_s: float = 0.2
    together: int = 8
    queued: float = 0.0

    @property
    def active(self) -> int:
        """Hosts with something queued, if it is spread evenly."""
        return min(self.number, math.ceil(self.queued))

    @property
    def each_per_s(self) -> float:
        """The most that one of them gives in a second."""
        if self.delay_s > 0:
            return 1 / (self.delay_s + self.latency_s)
        return self.together / self.latency_s

    @property
    def leases(self) -> float:
        """How many leases all of them could have out, with hands enough."""
        each = max(1, int(TURN_S / self.delay_s)) if self.delay_s > 0 else self.together
        return min(self.queued, self.active * each)


@dataclass
class World:
    """All hosts, and the workers that are asked for."""

    kinds: list[Hosts]
    workers: int = 0
    starting: list[int] = field(default_factory=list)
    ending: list[int] = field(default_factory=list)
    overdue_s: float = 0.0
    busy: float = 0.0
    cpu: float = 0.0
    drained_per_s: float = 0.0
    in_hand: int = 0
    ready_hosts: int = 0

    def scale_to(self, number: int) -> None:
        """Start or end workers; both take a while."""
        there = self.workers + len(self.starting)
        self.starting += [START_S] * (number - there)
        for _ in range(there - number):
            if self.starting:
                self.starting.pop()
            else:
                self.workers -= 1
                self.ending.append(END_S)

    def pass_second(self) -> None:
        """One second of crawling."""
        self.starting = [left - 1 for left in self.starting]
        self.workers += self.starting.count(0)
        self.starting = [left for left in self.starting if left > 0]
        self.ending = [left - 1 for left in self.ending if left > 1]
        share = self._share()
        done = self._crawl(share)
        self._look(share, done)

    def _share(self) -> float:
        """Which part of what politeness allows the workers can take on; 1 is all of it."""
        leases = sum(kind.leases for kind in self.kinds)
        rate = sum(min(kind.queued, kind.active * kind.each_per_s) for kind in self.kinds)
        if not leases or not rate:
            return 1.0
        flying = sum(kind.active * kind.each_per_s * kind.latency_s for kind in self.kinds)
        return min(
            1.0,
            self.workers * IN_HAND / leases,
            self.workers * SLOTS / flying,
            self.workers / (rate * CPU_S),
        )

    def _crawl(self, share: float) -> float:
        total = 0.0
        for kind in self.kinds:
            done = min(kind.queued, kind.active * kind.each_per_s * share)
            kind.queued = kind.queued - done if kind.queued - done > 1e-6 else 0.0
            total += done
        return total

    def _look(self, share: float, done: float) -> None:
        active = sum(kind.active for kind in self.kinds)
        leases = sum(kind.leases for kind in self.kinds)
        self.in_hand = round(min(leases * share, self.workers * IN_HAND))
        self.ready_hosts = int(active * (1 - share))
        self.overdue_s = self.overdue_s + 1 if self.ready_hosts else 0.0
        workers = max(1, self.workers)
        self.busy += SETTLE * (self.in_hand / workers / IN_HAND - self.busy)
        self.cpu += SETTLE * (min(1.0, done * CPU_S / workers) - self.cpu)
        self.drained_per_s += SETTLE * (done - self.drained_per_s)

    @property
    def queued(self) -> float:
        """All that waits."""
        return sum(kind.queued for kind in self.kinds)

    def observed(self) -> Observed:
        """What the autoscaler would see."""
        active = any(kind.active for kind in self.kinds)
        return Observed(
            workers=self.workers,
            starting=len(self.starting),
            queued=round(self.queued),
            in_hand=self.in_hand,
            ready_hosts=self.ready_hosts,
            overdue_s=self.overdue_s,
            next_s=0.0 if active else None,
            drained_per_s=self.drained_per_s,
            busy=self.busy,
            cpu=self.cpu,
        )
