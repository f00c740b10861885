"""What passes between the frontier and whoever fetches: leases, fetches, settlements, permits."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Literal

from skitter.frontier.request import Request


def boot_ms() -> float:
    """Milliseconds since the machine started, sleep included: no clock change moves it."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) / 1e6


@dataclass(slots=True)
class Lease:
    """A request in a worker's hands until a deadline.

    delay_ms is the gap to keep after the head of the previous response of this host's batch.
    alone asks for nothing else to run beside it: workers died with this request before.
    confirmed_ms is the boot clock when the call was sent that last confirmed the lease.
    """

    token: str
    request: Request
    host: str
    egress: str
    delay_ms: int
    shard: int
    alone: bool
    confirmed_ms: float


@dataclass(slots=True, frozen=True)
class Fetch:
    """What a host should know of a fetch that is over.

    ago_ms: how long ago the response's head arrived, or the attempt failed. status 0: it failed.
    """

    ago_ms: float = 0.0
    latency_ms: float = -1.0
    status: int = 0
    retry_after_ms: float = 0.0


@dataclass(slots=True)
class Settlement:
    """What became of a leased request.

    children are added before it is settled. page says that a response was given to the spider.
    figures are numbers added to the job's counters, by name (bytes, items, …).
    fetch is needed unless `fetched` was called before; None says that nothing was sent.
    """

    lease: Lease
    outcome: Literal["done", "retry", "bury"] = "done"
    fetch: Fetch | None = None
    children: list[Request] = field(default_factory=list)
    page: bool = False
    retry_ms: int = 0
    reason: str = ""
    error: str = ""
    figures: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True, frozen=True)
class Renewal:
    """kept; gone: another may have it; give back: release it, its job is paused or ended."""

    answer: Literal["kept", "gone", "give back"]
    delay_ms: int = 0


@dataclass(slots=True)
class Leased:
    """The answer to `lease`: ask again in retry_ms when there is nothing."""

    leases: list[Lease]
    retry_ms: int = 0


@dataclass(slots=True)
class Permit:
    """A turn without a queued request; granted unless wait_ms says when to ask again."""

    token: str
    host: str
    egress: str
    shard: int
    delay_ms: int
    wait_ms: int
    confirmed_ms: float

    @property
    def granted(self) -> bool:
        """Whether the host may be asked now."""
        return self.wait_ms == 0


@dataclass(slots=True)
class Added:
    """What became of the requests of one `add`, in their order: new, known, or refused and why."""

    results: list[str]

    @property
    def new(self) -> int:
        """How many were queued."""
        return self.results.count("new")

    @property
    def known(self) -> int:
        """How many had been seen before."""
        return self.results.count("known")

    @property
    def refused(self) -> dict[str, int]:
        """How many were refused, by reason."""
        reasons: dict[str, int] = {}
        for result in self.results:
            if result not in ("new", "known"):
                reasons[result] = reasons.get(result, 0) + 1
        return reasons
