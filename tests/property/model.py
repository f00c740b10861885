"""What the frontier is to do, as plainly as it can be said: dictionaries and lists, one process.

The model does not choose what is leased. It is told what the frontier handed out, raises Forbidden
where that was not allowed, and follows. Everything else it knows beforehand. Requests are told
apart by a serial number that the test puts into their meta.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from skitter.frontier import Config, Fetch, HostPolicy, Job
from tests.property.model_host import ModelHost

Queue = tuple[str, str, int]
COUNTERS = ("accepted", "done", "buried", "discarded", "retries", "crashes", "pages")


class Forbidden(AssertionError):
    """The frontier did what it must not."""


@dataclass
class Item:
    """An accepted request. identity is what its unfiltered children are told apart by."""

    serial: int
    job: str
    host: str
    priority: int
    identity: object
    crashes: int = 0
    attempts: int = 0
    state: str = "queued"

    @property
    def queue(self) -> Queue:
        return self.host, self.job, self.priority


@dataclass
class ModelJob:
    job: Job
    priority: int
    held_until_ms: int
    state: str = "running"
    outcome: str = ""
    accepted: int = 0
    done: int = 0
    buried: int = 0
    discarded: int = 0
    retries: int = 0
    crashes: int = 0
    pages: int = 0
    per_host: dict[str, int] = field(default_factory=lambda: defaultdict(int))


@dataclass
class ModelLease:
    """A lease, or a permit where serial is None."""

    worker: str
    host: str
    serial: int | None
    deadline_ms: int
    held: bool = True


class Model:
    def __init__(self, config: Config, *, now_ms: int) -> None:
        self.config = config
        self.now_ms = now_ms
        self.jobs: dict[str, ModelJob] = {}
        self.items: dict[int, Item] = {}
        self.hosts: dict[str, ModelHost] = {}
        self.leases: dict[str, ModelLease] = {}
        self.delayed: dict[int, int] = {}
        self.letters: set[int] = set()
        self.seen: dict[str, set[object]] = defaultdict(set)
        # A queue is a list of groups; within a group the order is not promised.
        self.queues: dict[Queue, list[set[int]]] = defaultdict(list)

    def host(self, name: str) -> ModelHost:
        return self.hosts.setdefault(name, ModelHost(self.config))

    def submit(self, job: Job, *, hold_ms: int) -> None:
        self.jobs[job.id] = ModelJob(job, job.priority, self.now_ms + hold_ms)

    def add(self, item: Item, mark: object) -> str:
        """What `add` is to answer for a request whose dedup mark is `mark`."""
        job = self.jobs[item.job]
        scope = self.seen[job.job.dedup or item.job]
        if job.state == "ended":
            return "job ended"
        if mark in scope:
            return "known"
        bound = job.job.max_per_host
        if bound is not None and job.per_host[item.host] >= bound:
            return "host budget"
        scope.add(mark)
        job.per_host[item.host] += 1
        job.accepted += 1
        self.items[item.serial] = item
        self._push(item.queue, [{item.serial}], front=False)
        return "new"

    def forget(self, job: str, mark: object) -> int:
        scope = self.seen[self.jobs[job].job.dedup or job]
        known = mark in scope
        scope.discard(mark)
        return int(known)

    def promote(self) -> None:
        """A lease first queues what waited for its next try."""
        due = [serial for serial, at_ms in self.delayed.items() if at_ms <= self.now_ms]
        for serial in due:
            del self.delayed[serial]
        self._requeue(due)

    def settle(self, token: str, outcome: str, *, page: bool, fetch: Fetch | None) -> bool:
        """Whether the settlement is taken; the retry's wait is noted by `delay`."""
        lease = self.leases.get(token)
        if lease is None or lease.serial is None:
            return False
        self.give_back(token, fetch)
        del self.leases[token]
        item = self.items[lease.serial]
        job = self.jobs[item.job]
        job.pages += page
        if outcome == "done":
            item.state, job.done = "done", job.done + 1
        elif job.state == "ended":
            item.state, job.discarded = "discarded", job.discarded + 1
        elif outcome == "retry":
            item.state, item.attempts, job.retries = "delayed", item.attempts + 1, job.retries + 1
        else:
            self._bury(item)
        return True

    def delay(self, serial: int, wait_ms: int) -> None:
        if self.items[serial].state == "delayed":
            self.delayed[serial] = self.now_ms + wait_ms

    def give_back(self, token: str, fetch: Fetch | None) -> None:
        lease = self.leases[token]
        if lease.held:
            lease.held = False
            self.host(lease.host).give_back(self.now_ms, fetch)

    def release(self, tokens: list[str]) -> list[bool]:
        """The order of the answers is that of the tokens; so is the order in the queue."""
        answers = [token in self.leases for token in tokens]
        for token in reversed(list(dict.fromkeys(tokens))):
            if token not in self.leases:
                continue
            self.give_back(token, None)
            lease = self.leases.pop(token)
            if lease.serial is not None:
                self._requeue([lease.serial])
        return answers

    def reap(self, worker: str = "") -> int:
        lost = [
            token
            for token, lease in self.leases.items()
            if (lease.worker == worker if worker else lease.deadline_ms <= self.now_ms)
        ]
        back: list[int] = []
        for token in lost:
            serial = self.leases[token].serial
            blind_ms = self.config.lease_ms if self._blind(token) else 0
            self.give_back(token, Fetch(latency_ms=-1, status=-1, retry_after_ms=blind_ms))
            del self.leases[token]
            if serial is not None and not self._crash(serial):
                back.append(serial)
        self._requeue(back)
        return len(lost)

    def replay(self, serial: int) -> bool:
        item = self.items[serial]
        if serial not in self.letters or self.jobs[item.job].state == "ended":
            return False
        self.letters.discard(serial)
        self.jobs[item.job].accepted += 1
        item.attempts = item.crashes = 0
        item.state = "queued"
        self._push(item.queue, [{serial}], front=True)
        return True

    def set_policy(self, host: str, policy: HostPolicy) -> int:
        return self.host(host).set_policy(policy, self.now_ms)

    def end(self, name: str, outcome: str) -> None:
        """What is queued or delayed is thrown away; what is leased ends with its lease."""
        job = self.jobs[name]
        if job.state == "ended":
            return
        job.state, job.outcome = "ended", outcome
        for item in self.items.values():
            if item.job == name and item.state in ("queued", "delayed"):
                self._take(item)
                self.delayed.pop(item.serial, None)
                item.state, job.discarded = "discarded", job.discarded + 1

    def tend(self) -> None:
        """A caretaker's tick: reap, then end what is complete."""
        self.reap()
        for name, job in self.jobs.items():
            limit = job.job.max_pages
            if job.state != "running":
                continue
            if limit is not None and job.pages >= limit:
                self.end(name, "limit reached")
            elif job.held_until_ms <= self.now_ms and not self.pending(name):
                self.end(name, "finished")

    def pending(self, name: str) -> int:
        return sum(
            item.job == name and item.state in ("queued", "leased", "delayed")
            for item in self.items.values()
        )

    def count(self, name: str, state: str) -> int:
        return sum(item.job == name and item.state == state for item in self.items.values())

    def _blind(self, token: str) -> bool:
        """Its worker may have read a robots.txt that nobody else knows of."""
        lease = self.leases[token]
        if lease.serial is None or not self.jobs[self.items[lease.serial].job].job.robots:
            return False
        return self.host(lease.host).robots_unknown(self.now_ms)

    def _crash(self, serial: int) -> bool:
        """Whether it was one crash too many."""
        item = self.items[serial]
        item.crashes += 1
        self.jobs[item.job].crashes += 1
        if item.crashes <= self.config.max_crashes or self.jobs[item.job].state == "ended":
            return False
        item.attempts -= 1  # nobody knows whether it was tried: only crashes count
        self._bury(item)
        return True

    def _bury(self, item: Item) -> None:
        item.state, item.attempts = "buried", item.attempts + 1
        self.jobs[item.job].buried += 1
        self.letters.add(item.serial)

    def _requeue(self, serials: list[int]) -> None:
        """Back to the front of their queues; those that come together in no promised order."""
        groups: dict[Queue, set[int]] = defaultdict(set)
        for serial in serials:
            item = self.items[serial]
            if self.jobs[item.job].state == "ended":
                item.state = "discarded"
                self.jobs[item.job].discarded += 1
            else:
                item.state = "queued"
                groups[item.queue].add(serial)
        for queue, group in groups.items():
            self._push(queue, [group], front=True)

    def _push(self, queue: Queue, groups: list[set[int]], *, front: bool) -> None:
        host = self.host(queue[0])
        host.take_manners(self.jobs[queue[1]].job, queued=self.queued_at(queue[0]))
        old = self.queues[queue]
        self.queues[queue] = groups + old if front else old + groups

    def _take(self, item: Item) -> None:
        groups = self.queues[item.queue]
        for group in groups:
            group.discard(item.serial)
        self.queues[item.queue] = [group for group in groups if group]

    def queued_at(self, host: str) -> int:
        return sum(
            len(group) for key, groups in self.queues.items() if key[0] == host for group in groups
        )
