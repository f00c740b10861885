from __future__ import annotations

from collections import Counter

import pytest
from redis.crc import key_slot

from skitter.frontier.keys import prefix, shard_of_host, shard_of_job

SLOTS = 16384


def test_hosts_are_spread_evenly_over_the_shards() -> None:
    counts = Counter(shard_of_host(f"www.site{n}.com", 16) for n in range(16_000))
    assert set(counts) == set(range(16))
    assert max(counts.values()) < 1200
    assert min(counts.values()) > 800


def test_jobs_are_spread_evenly_over_the_shards() -> None:
    counts = Counter(shard_of_job(str(n), 16) for n in range(16_000))
    assert len(counts) == 16
    assert max(counts.values()) < 1200


def test_all_hosts_of_a_registered_domain_are_in_one_shard() -> None:
    for domain in ("example.com", "example.co.uk", "127.0.0.1"):
        names = [domain, f"www.{domain}", f"a.b.c.{domain}"] if domain[0] == "e" else [domain]
        assert len({shard_of_host(name, 16) for name in names}) == 1


def test_one_shard_has_everything() -> None:
    assert shard_of_host("example.com", 1) == shard_of_job("z", 1) == 0


@pytest.mark.parametrize("shards", [2, 3, 16, 64])
@pytest.mark.parametrize("namespace", ["skitter", "t1", "a-very-long-name-of-a-namespace"])
def test_the_slot_of_a_shard_lies_in_its_part_of_the_range(namespace: str, shards: int) -> None:
    prefixes = [prefix(namespace, shard, shards) for shard in range(shards)]
    assert len(set(prefixes)) == shards
    for shard, name in enumerate(prefixes):
        assert name.startswith("{" + namespace)
        slot = key_slot(f"{name}h:example.com".encode())
        assert slot == key_slot(f"{name}m".encode())
        assert shard * SLOTS // shards <= slot < (shard + 1) * SLOTS // shards
