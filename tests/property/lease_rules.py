"""What a lease may hand out, checked request by request against the model."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from tests.property.model import Forbidden, Item, Model, ModelLease


@dataclass(frozen=True)
class Granted:
    """A lease as the frontier gave it."""

    token: str
    serial: int
    delay_ms: int
    alone: bool
    attempts: int
    crashes: int


def band_of(effective: int) -> int:
    return 1 if effective > 0 else 2 if effective == 0 else 3


def leasable(model: Model, lanes: set[str]) -> list[int]:
    """Requests of which the frontier must hand out one when it is asked for all these lanes."""
    found = []
    for (host, name, _), groups in model.queues.items():
        job = model.jobs[name]
        fits = job.state == "running" and job.job.lane in lanes and _quota_left(model, name) > 0
        if fits and groups and _room_for_all(model, host) > 0:
            found += sorted(groups[0])
    return found


def _room_for_all(model: Model, host: str) -> int:
    """A job that has to wait for robots.txt may hold up the others at its host."""
    jobs = {name for (at, name, _), groups in model.queues.items() if at == host and groups}
    return min(model.host(host).room(model.jobs[name].job, model.now_ms) for name in jobs)


def take(model: Model, reply: list[Granted], *, worker: str, lanes: set[str]) -> None:
    """Follow one reply, or raise Forbidden. `model.promote` comes before."""
    given: dict[str, int] = defaultdict(int)
    rooms: dict[tuple[str, str], int] = {}
    for granted in reply:
        item = model.items[granted.serial]
        key = item.host, item.job
        if key not in rooms:
            # Of the time before this reply: what it hands out is counted in `given`.
            host = model.host(item.host)
            host.out -= given[item.host]
            rooms[key] = host.room(model.jobs[item.job].job, model.now_ms)
            host.out += given[item.host]
        if given[item.host] >= rooms[key]:
            raise Forbidden(f"{item}: host has room for {rooms[key]}: {model.host(item.host)}")
        _check(model, item, granted, lanes=lanes)
        if granted.alone and len(reply) > 1:
            raise Forbidden(f"{item} was to be leased alone, not among {len(reply)}")
        given[item.host] += 1
        _hand_out(model, item, granted.token, worker=worker)


def _hand_out(model: Model, item: Item, token: str, *, worker: str) -> None:
    model._take(item)
    item.state = "leased"
    model.host(item.host).out += 1
    deadline_ms = model.now_ms + model.config.lease_ms
    model.leases[token] = ModelLease(worker, item.host, item.serial, deadline_ms)


def _check(model: Model, item: Item, granted: Granted, *, lanes: set[str]) -> None:
    job = model.jobs[item.job]
    if item.state != "queued":
        raise Forbidden(f"{item} is not queued")
    if job.state != "running" or job.job.lane not in lanes:
        raise Forbidden(f"{item}: its job is {job.state} in lane {job.job.lane}, not {lanes}")
    if _quota_left(model, item.job) <= 0:
        raise Forbidden(f"{item}: {job.pages} of {job.job.max_pages} pages are used")
    if item.serial not in model.queues[item.queue][0]:
        raise Forbidden(f"{item} is not first in {model.queues[item.queue]}")
    if (granted.attempts, granted.crashes) != (item.attempts, item.crashes):
        raise Forbidden(f"{item} came as {granted}")
    if granted.delay_ms != model.host(item.host).delay_ms:
        raise Forbidden(f"{granted} came with another delay than {model.host(item.host)}")
    if granted.alone != (item.crashes >= model.config.alone_after_crashes):
        raise Forbidden(f"{item}: alone is {granted.alone}")
    _check_priority(model, item)


def _check_priority(model: Model, item: Item) -> None:
    """Within a host, a job and a band. A request that killed workers may be passed over."""
    base = model.jobs[item.job].priority
    for (host, name, priority), groups in model.queues.items():
        if (host, name) != (item.host, item.job) or priority <= item.priority or not groups:
            continue
        suspect = any(model.items[i].crashes >= model.config.alone_after_crashes for i in groups[0])
        if band_of(base + priority) == band_of(base + item.priority) and not suspect:
            raise Forbidden(f"{item} came before {groups[0]} of priority {priority}")


def _quota_left(model: Model, name: str) -> int:
    job = model.jobs[name]
    if job.job.max_pages is None:
        return 1
    return job.job.max_pages - job.pages - model.count(name, "leased")
