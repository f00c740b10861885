"""The names of all keys, and where a host, a job and a register live.

Every key of a shard begins with its prefix, `{namespace+shard}`, whose braces make it one slot on a
cluster. After the prefix:

m            hash    the shard: settings, clock (raw, off), hold, nap, run id, how many shards
h:<host>     hash    a host: o[:egress] fetches out, c[:egress] clock, pd/pc/bm/bp policy,
                     jd/jc its jobs' wishes, cd crawl delay, ad adaptive delay, ll last latency,
                     rk robots known until, bl blocked, f fetched, x failed, bu/bw budget used and
                     its window, w lanes waiting for a turn, pw a permit waits until,
                     q<band><lane> its queues in a lane and band, k its parked queues
q:<host>:<no>:<priority>  list  a queue: entries of one job at one host
r<band><lane> zset   hosts with work, by the earliest time they may be ready
p:<no>       set     queues of a paused job, or of one without page quota: 'priority host'
z            zset    requests to be tried again, by time
l:<worker>   hash    a worker's leases and permits, by token
due          zset    'worker/token' by deadline
d:<scope>    hash    a dedup scope: how many, and how its buckets are split
d:<scope>:<bucket>   set of 64-bit fingerprints
x, xt, xj:<no>       dead letters: hash by id; zsets by time, of all and of a job
j:<no>       hash    a job here: record (v, s, spec) and counters
f:<no>       hash    its errors, counted;   b:<no> hash: accepted by host, where that is bounded
hp, hf, hx   zset    hosts by queued, fetched, failed
e            zset    egresses in use, by last use
s:<session>  string  last sequence number and reply of a client's channel
maybe, sweep, unpark  set  jobs for the caretakers: perhaps complete, to be swept, to be unparked
lock:<name>  hash    owner, until, fence
k:<no>       set     a job's cookie jars here: '<jar>:<domain>'
k:<no>:<jar>:<domain>  hash  cookies
t:<origin>   hash    its robots.txt: z text, compressed; u fresh until; d the delay it asks for;
                     n failures to get it, in a row; a asked for until, by w (if it has leases)
td:<host>    zset    a host's origins, by the delay that their robots.txt asks for
At a job's home:  J:<no> hash record;  hold:<no> zset;  live, exp, tell zset;  chg zset: versions
                  that the store has not seen;  ended zset: by when their end is seen to;  old
                  zset: those that are seen to, by when they are forgotten
On shard 0:       ids, nos hash (id ↔ no);  no  counter;  eg hash how egresses stand, alone and at
                  hosts;  ev, ex zset: those by version (m: ev) and by when they are forgotten
                  uq hash unique jobs, by what they are;  events stream;  said hash: the version of
                  each job that was announced there
                  w:<worker> string its heartbeat;  ws zset workers by when it expires;
                  wl zset workers that went without a word, by when
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

from redis.crc import key_slot

from skitter.frontier.urls import registered_domain

_SLOTS = 16384


@lru_cache(maxsize=1024)
def prefix(namespace: str, shard: int, shards: int) -> str:
    """A shard's prefix. Its slot lies in the shard's part of the range: nodes share evenly."""
    if shards == 1:
        return "{" + namespace + "0}"
    low, high = shard * _SLOTS // shards, (shard + 1) * _SLOTS // shards
    for salt in range(100_000):
        tag = f"{namespace}{shard}.{salt}"
        if low <= key_slot(tag.encode()) < high:
            return "{" + tag + "}"
    raise AssertionError("some salt hits one slot in sixteen thousand")


def shard_of_host(host: str, shards: int) -> int:
    """All hosts of a registered domain live in one shard."""
    return _hash(registered_domain(host)) % shards if shards > 1 else 0


def shard_of_job(no: str, shards: int) -> int:
    """A job's home."""
    return _hash(no) % shards if shards > 1 else 0


@lru_cache(maxsize=65536)
def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "little")
