"""What scrapy-redis left in Redis: requests as pickles, and SHA-1 fingerprints.

A pickle runs code when it is read, so none ever is: a crawl that would leave some behind does not
begin. Fingerprints cannot be turned into ours, for a hash has no way back to its URL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from skitter.errors import OldQueue

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from skitter.compat.scrapy_redis.options import Options

log = structlog.get_logger(__name__)


async def check_leftovers(client: Redis, options: Options) -> None:
    """Raise OldQueue if requests wait in the old queue; with SCHEDULER_FLUSH_ON_START, drop all."""
    if options.flush:
        dropped = await client.unlink(options.queue_key, options.dupefilter_key)
        if dropped:
            log.info("scrapy-redis's own keys dropped", number=dropped)
        return
    number = await _length(client, options.queue_key)
    if number:
        raise OldQueue(key=options.queue_key, number=number)
    if await client.exists(options.dupefilter_key):
        log.warning(
            "what scrapy-redis has seen is not known here, and is fetched again: its fingerprints "
            "are SHA-1 hashes, which cannot be converted",
            key=options.dupefilter_key,
        )


async def _length(client: Redis, key: str) -> int:
    kind = await client.type(key)
    if kind == b"zset":
        return int(await client.zcard(key))
    return int(await client.llen(key)) if kind == b"list" else 0
