"""All keys of a server or a cluster, for tests that look for what was left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import redis

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def list_keys(url: str) -> list[bytes]:
    found: list[bytes] = []
    for client in _primaries(url):
        with client:
            found += client.scan_iter(count=5000)
    return found


def delete_keys(url: str, keys: Iterable[bytes]) -> None:
    doomed = list(keys)
    if _is_cluster(url):
        with redis.RedisCluster.from_url(_plain(url)) as cluster:
            for key in doomed:
                cluster.unlink(key)
    elif doomed:
        with redis.Redis.from_url(url) as client:
            client.unlink(*doomed)


def _is_cluster(url: str) -> bool:
    return urlsplit(url).scheme == "redis+cluster"


def _plain(url: str) -> str:
    return url.replace("redis+cluster://", "redis://", 1)


def _primaries(url: str) -> Iterator[redis.Redis]:
    if not _is_cluster(url):
        yield redis.Redis.from_url(url)
        return
    with redis.RedisCluster.from_url(_plain(url)) as cluster:
        for node in cluster.get_primaries():
            yield redis.Redis(host=node.host, port=node.port)
