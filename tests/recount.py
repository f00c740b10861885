"""Counts a frontier anew from its raw keys, and says in plain words where a counter is wrong.

`mismatches = await recount(frontier)`: an empty list when everything is right. The frontier must be
at rest: no call under way. It may have leases out, and work left for its caretakers.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from tests.snapshot import ShardSnapshot, snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skitter.frontier import Frontier

_KNOWN = re.compile(
    r"(m|z|due|x|xt|hp|hf|hx|e|eg|ev|ex|maybe|sweep|unpark|tell|live|exp|chg|ended|old|ids|nos|uq|said|ws"
    r"|wl"
    r"|(h|l|d|xj|j|f|b|k|lock|p|J|hold|t|td):.+|r[123].{8})",
    re.DOTALL,
)
_SETTLED = ("dn", "bu", "di")
_HELD_UP = ("qd", "le", "de")
# A host whose turn came may be looked at a moment later; a denied permit keeps its turn this long.
_SLACK_MS = 1500


async def recount(frontier: Frontier) -> list[str]:
    """Everything that counters and indexes claim and the keys do not bear out."""
    shards = await snapshot(frontier)
    found: list[str] = []
    for shard in shards:
        for check in _CHECKS:
            found += [f"shard {shard.number}: {text}" for text in check(shard)]
    found += _check_homes(shards)
    return found


def _number(fields: dict[str, str], name: str) -> int:
    return int(float(fields.get(name, "0")))


def _strange(shard: ShardSnapshot) -> Iterator[str]:
    for name in [*shard.hashes, *shard.zsets, *shard.sets]:
        if not _KNOWN.fullmatch(name):
            yield f"key {name} is of no known kind"
    for name in shard.strange:
        yield f"key {name} is of no known kind"


def _jobs(shard: ShardSnapshot) -> Iterator[str]:
    queued: Counter[str] = Counter()
    for queue, length in shard.queues.items():
        queued[queue.no] += length
    real = {
        "qd": queued,
        "le": Counter(lease.no for lease in shard.leases if lease.no),
        "de": Counter(delayed.no for delayed in shard.delayed),
        "ql": Counter(lease.no for lease in shard.leases if lease.no and lease.quota),
    }
    jobs = shard.named("j:")
    for name, counts in real.items():
        for no in sorted({*counts, *jobs}):
            said = _number(jobs.get(no, {}), name)
            if said != counts[no]:
                yield f"job {no}: {name} says {said}, there are {counts[no]}"
    for no, fields in jobs.items():
        yield from _job_sums(no, fields, dead=sum(1 for n in shard.dead.values() if n == no))


def _job_sums(no: str, fields: dict[str, str], *, dead: int) -> Iterator[str]:
    accepted = _number(fields, "a")
    parts = {name: _number(fields, name) for name in (*_HELD_UP, *_SETTLED)}
    if accepted != sum(parts.values()):
        yield f"job {no}: accepted {accepted}, but {parts} is {sum(parts.values())}"
    for name, value in parts.items():
        if value < 0:
            yield f"job {no}: {name} is {value}"
    if dead > parts["bu"]:
        yield f"job {no}: {dead} dead letters, but only {parts['bu']} were buried"
    pool = _number(fields, "qr") - sum(_number(fields, name) for name in ("qx", "qu", "ql"))
    if pool < 0:
        yield f"job {no}: its pool of pages is {pool}"


def _host_counts(shard: ShardSnapshot) -> Iterator[str]:
    out: Counter[tuple[str, str]] = Counter()
    for lease in shard.leases:
        if lease.held:
            out[lease.host, "o" if lease.egress == "direct" else f"o:{lease.egress}"] += 1
    hosts = shard.named("h:")
    said_out = {
        (name, key): int(float(value))
        for name, fields in hosts.items()
        for key, value in fields.items()
        if key == "o" or key.startswith("o:")
    }
    for name, key in sorted({*out, *said_out}):
        if said_out.get((name, key), 0) != out[name, key]:
            said = said_out.get((name, key), 0)
            yield f"host {name}: {key} says {said} out, there are {out[name, key]}"


def _queues(shard: ShardSnapshot) -> Iterator[str]:
    """Every queue is found by the lease, or parked where a caretaker finds it."""
    hosts = shard.named("h:")
    for queue in shard.queues:
        ref = f"{queue.no}:{queue.priority}:"
        lanes = [
            name[1:]
            for name, value in hosts.get(queue.host, {}).items()
            if name[0] == "q" and any(part.startswith(ref) for part in value.split())
        ]
        parked = f"{queue.priority} {queue.host}" in shard.sets.get(f"p:{queue.no}", set())
        if not lanes and not parked:
            yield f"queue {queue} is in no index and not parked: nobody will lease it"
        said = f"{queue.no}:{queue.priority}" in hosts.get(queue.host, {}).get("k", "").split()
        if parked != said:
            yield f"queue {queue}: parked is {parked}, and its host says {said}"
    for no, fields in shard.named("j:").items():
        if shard.sets.get(f"p:{no}") and _may_run(fields) and no not in _to_tend(shard):
            yield f"job {no}: queues are parked though it may run, and nobody will unpark them"


def _may_run(fields: dict[str, str]) -> bool:
    pool = _number(fields, "qr") - sum(_number(fields, name) for name in ("qx", "qu", "ql"))
    return fields.get("s") == "r" and ("limited" not in fields.get("spec", "") or pool > 0)


def _to_tend(shard: ShardSnapshot) -> set[str]:
    return shard.sets.get("unpark", set()) | shard.sets.get("sweep", set())


def _ready(shard: ShardSnapshot) -> Iterator[str]:
    """Ready indexes and hosts' q-fields name each other; no host sleeps without a reason."""
    hosts = shard.named("h:")
    ready = {
        name[1:]: members
        for name, members in shard.zsets.items()
        if re.fullmatch(r"r[123].{8}", name)
    }
    for lane, members in ready.items():
        for host, at_ms in members.items():
            if not hosts.get(host, {}).get(f"q{lane}"):
                yield f"host {host} is ready in {lane} and has no queue there"
            else:
                yield from _oversleeps(shard, host, lane=lane, at_ms=at_ms)
    for host, fields in hosts.items():
        for name in fields:
            if name[0] == "q" and host not in ready.get(name[1:], {}):
                yield f"host {host} has queues in {name[1:]} and is not ready there"


def _oversleeps(shard: ShardSnapshot, host: str, *, lane: str, at_ms: float) -> Iterator[str]:
    fields = shard.hashes[f"h:{host}"]
    meta = shard.hashes["m"]
    now = _number(meta, "raw") + _number(meta, "off")
    if "bl" in fields or "bm" in fields or any(lease.host == host for lease in shard.leases):
        return
    clocks = [
        float(value) for name, value in fields.items() if name in ("c", "pw") or name[:2] == "c:"
    ]
    wake_ms = max([now, *clocks]) + _SLACK_MS
    if at_ms > wake_ms:
        yield f"host {host} sleeps in {lane} for {at_ms - now:g} ms, and nothing holds it"


def _deadlines(shard: ShardSnapshot) -> Iterator[str]:
    held = {f"{lease.worker}/{lease.token}" for lease in shard.leases}
    due = set(shard.zsets.get("due", {}))
    for member in sorted(held - due):
        yield f"lease {member} has no deadline"
    for member in sorted(due - held):
        yield f"deadline {member} has no lease"


def _seen(shard: ShardSnapshot) -> Iterator[str]:
    buckets: dict[str, dict[int, set[str]]] = defaultdict(dict)
    for name, members in shard.sets.items():
        if name.startswith("d:"):
            scope, _, bucket = name[2:].rpartition(":")
            buckets[scope][int(bucket)] = members
    scopes = shard.named("d:")
    for scope in sorted({*buckets, *scopes}):
        fields = scopes.get(scope, {})
        if "left" in fields:  # it is being forgotten
            continue
        count = sum(map(len, buckets[scope].values()))
        if _number(fields, "n") != count:
            yield f"scope {scope}: n says {_number(fields, 'n')} seen, there are {count}"
        size, split = _number(fields, "size") or 1, _number(fields, "next")
        for number, marks in buckets[scope].items():
            lost = sum(1 for mark in marks if _bucket(int(mark), size, split) != number)
            if lost:
                yield f"scope {scope}: {lost} fingerprints in bucket {number} belong elsewhere"


def _bucket(mark: int, size: int, split: int) -> int:
    return mark % size if mark % size >= split else mark % (2 * size)


def _dead(shard: ShardSnapshot) -> Iterator[str]:
    by_time = set(shard.zsets.get("xt", {}))
    by_job = {i: no for no, ids in shard.ranked("xj:").items() for i in ids}
    for letter in sorted(set(shard.dead) ^ by_time):
        yield f"dead letter {letter} is in only one of x and xt"
    for letter in sorted({*shard.dead, *by_job}):
        if shard.dead.get(letter) != by_job.get(letter):
            yield f"dead letter {letter}: x and xj do not agree on its job"


def _ranking(shard: ShardSnapshot) -> Iterator[str]:
    """The index of queued is right within a power of two, and has no one with less than two.

    A host of several queues has at least the longest of them there, at most twice all of them.
    """
    ranked = shard.zsets.get("hp", {})
    queues: dict[str, list[int]] = defaultdict(list)
    for queue, length in shard.queues.items():
        queues[queue.host].append(length)
    for name in sorted({*ranked, *queues}):
        lengths = queues.get(name, [0])
        least, most = _power(max(lengths)), _power(sum(lengths)) + (len(lengths) > 1)
        if not least <= _power(ranked.get(name, 0)) <= most:
            yield f"host {name}: the ranking says {ranked.get(name, 0):g} queued of {lengths}"


def _power(count: float) -> int:
    return math.frexp(count)[1] if count >= 2 else 0


_CHECKS: tuple[Callable[[ShardSnapshot], Iterator[str]], ...] = (
    _strange, _jobs, _host_counts, _queues, _ready, _deadlines, _seen, _dead, _ranking,
)  # fmt: skip


def _check_homes(shards: list[ShardSnapshot]) -> Iterator[str]:
    """Jobs' records at home against the register, the shards' copies and the page quota."""
    homes = {no: (shard, f) for shard in shards for no, f in shard.named("J:").items()}
    ids, nos = shards[0].hashes.get("ids", {}), shards[0].hashes.get("nos", {})
    if {no: i for i, no in ids.items()} != nos:
        yield f"the register is not one to one: {ids} {nos}"
    for no, (home, fields) in homes.items():
        if nos.get(no) != fields["id"]:
            yield f"job {no} is {fields['id']} at home and {nos.get(no)} in the register"
        if (fields["s"] != "e") != (no in home.zsets.get("live", {})):
            yield f"job {no} has state {fields['s']}, but the index of live jobs disagrees"
        ended = sum(no in home.zsets.get(index, {}) for index in ("ended", "old"))
        if ended != int(fields["s"] == "e"):
            yield f"job {no} has state {fields['s']}, and is {ended} times among the ended"
    for shard in shards:
        for no, copy in shard.named("j:").items():
            if no not in homes:
                yield f"shard {shard.number}: job {no} has no home"
            else:
                yield from _check_copy(no, copy, homes[no], shard.number)


def _check_copy(
    no: str, copy: dict[str, str], record: tuple[ShardSnapshot, dict[str, str]], number: int
) -> Iterator[str]:
    shard, home = record
    where = f"shard {number}: job {no}"
    if f"at:{number}" not in home:
        yield f"{where} is here, and its home does not know"
    told = copy["v"] == home["v"] or no in shard.zsets.get("tell", {})
    if _number(copy, "v") > _number(home, "v") or not told:
        yield f"{where} has version {copy['v']}, its home {home['v']}, and nobody will tell"
    granted, returned = _number(home, f"g:{number}"), _number(home, f"x:{number}")
    if _number(copy, "qr") > granted or _number(copy, "qx") < returned:
        yield f"{where} has quota {copy}, its home says granted {granted}, returned {returned}"
