"""A host in the model: how it may be asked, and when."""

from __future__ import annotations

import math
from dataclasses import dataclass

from skitter.frontier import Config, Fetch, HostPolicy, Job


@dataclass
class ModelHost:
    """All hosts of the model are asked by one egress."""

    config: Config
    clock_ms: int = 0
    out: int = 0
    policy_delay_ms: int | None = None
    policy_concurrency: int | None = None
    job_delay_ms: int | None = None
    crawl_delay_ms: int = 0
    adaptive_ms: int = 0
    latency_ms: int = 0
    robots_until_ms: int = 0
    permit_until_ms: int = 0
    blocked: bool = False

    @property
    def delay_ms(self) -> int:
        return math.ceil(max(self._unadapted_ms, self.adaptive_ms))

    @property
    def _unadapted_ms(self) -> float:
        floor = self.config.delay_ms
        if self.job_delay_ms is not None:
            floor = self.job_delay_ms
        if self.policy_delay_ms is not None:
            floor = self.policy_delay_ms
        base = max(floor, min(self.crawl_delay_ms, self.config.max_delay_ms))
        if floor <= 0:
            return base
        return max(
            base, min(self.config.latency_factor * self.latency_ms, self.config.max_delay_ms)
        )

    @property
    def concurrency(self) -> int:
        if self.policy_concurrency is not None:
            return self.policy_concurrency
        return self.config.concurrency

    def robots_unknown(self, now_ms: int) -> bool:
        return self.robots_until_ms < now_ms

    def exclusive(self, job: Job, now_ms: int) -> bool:
        return self.delay_ms > 0 or (job.robots and self.robots_unknown(now_ms))

    def room(self, job: Job, now_ms: int) -> int:
        """How many requests of a job may be handed out at once."""
        if self.clock_ms > now_ms or self.blocked:
            return 0
        exclusive = self.exclusive(job, now_ms)
        if exclusive and (self.out or self.permit_until_ms > now_ms):
            return 0
        if job.robots and self.robots_unknown(now_ms):
            return int(self.concurrency > 0 or self.delay_ms > 0)
        if self.delay_ms > 0:
            return max(1, self.config.turn_ms // self.delay_ms)
        return max(0, self.concurrency - self.out)

    def permit_wait_ms(self, now_ms: int) -> int:
        """How long a permit waits: nothing when it is granted, and then it is out."""
        busy = (self.delay_ms > 0 and self.out > 0) or self.out >= self.concurrency
        if not busy and self.clock_ms <= now_ms:
            self.permit_until_ms = 0
            self.out += 1
            return 0
        wait_ms = max(50, min(self.delay_ms, 1000)) if busy else self.clock_ms - now_ms
        self.permit_until_ms = now_ms + wait_ms + 500
        return wait_ms

    def give_back(self, now_ms: int, fetch: Fetch | None) -> None:
        self.out -= 1
        if fetch is None:
            return
        if fetch.latency_ms >= 0:
            self.latency_ms = math.floor(fetch.latency_ms)
        self._adapt(fetch.status)
        came_ms = now_ms - fetch.ago_ms
        wait_ms = max(self.delay_ms, min(fetch.retry_after_ms, self.config.max_retry_after_ms))
        self.clock_ms = max(self.clock_ms, math.ceil(came_ms + wait_ms))

    def take_manners(self, job: Job, *, queued: int) -> None:
        """Of several jobs at one host the most polite one sets the pace."""
        delay_ms = None if job.delay_s is None else int(job.delay_s * 1000)
        if queued == 0:
            self.job_delay_ms = delay_ms
        elif delay_ms is not None or self.job_delay_ms is not None:
            usual = self.config.delay_ms
            mine = usual if delay_ms is None else delay_ms
            theirs = usual if self.job_delay_ms is None else self.job_delay_ms
            self.job_delay_ms = max(mine, theirs)

    def set_policy(self, policy: HostPolicy, now_ms: int) -> int:
        if policy.delay_ms is not None:
            self.policy_delay_ms = policy.delay_ms
        if policy.concurrency is not None:
            self.policy_concurrency = policy.concurrency
        if policy.crawl_delay_ms is not None:
            self.crawl_delay_ms = policy.crawl_delay_ms
        if policy.robots_ms is not None:
            self.robots_until_ms = now_ms + policy.robots_ms
        if policy.blocked is not None:
            self.blocked = policy.blocked
        return self.delay_ms

    def clear_policy(self) -> int:
        self.policy_delay_ms = self.policy_concurrency = None
        self.blocked = False
        return self.delay_ms

    def _adapt(self, status: int) -> None:
        if status in (429, 503):
            self.adaptive_ms = min(self.config.max_delay_ms, max(2 * self.delay_ms, 1000))
        elif self.adaptive_ms and 0 < status < 400:
            base = max(self._unadapted_ms, 50)
            slower = math.floor(1 / (1 / self.adaptive_ms + 1 / (20 * base)))
            self.adaptive_ms = slower if slower > base else 0
