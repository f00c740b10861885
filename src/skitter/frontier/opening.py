"""The frontier that the settings describe: on the server they name, or on the embedded one."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from skitter.frontier.embedded import EmbeddedServer
from skitter.frontier.frontier import Frontier
from skitter.frontier.policy import Config, RetryPolicy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from skitter.settings import EmbeddedSettings, Settings
    from skitter.settings.tree import RetrySettings

_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


@asynccontextmanager
async def open_frontier(
    settings: Settings, *, worker: str | None = None, guest: bool = False
) -> AsyncIterator[Frontier]:
    """Connect, starting the embedded server where no other is named; close all at the end.

    The shards take these settings over: processes that share a frontier should share them too. A
    guest, who comes to look or to add, leaves the settings that the shards have as they are.
    """
    embedded = None if settings.redis.url else embedded_server(settings.embedded)
    url = settings.redis.url or await asyncio.to_thread(embedded.start)  # type: ignore[union-attr]
    try:
        frontier = await Frontier.connect(
            str(url),
            worker=worker or settings.worker.name(),
            namespace=settings.redis.namespace,
            shards=settings.redis.shards,
            config=config_of(settings),
            keep_config=guest,
            patience_s=settings.redis.patience_s,
            timeout_s=settings.redis.timeout_s,
            wait_replicas=settings.redis.wait_replicas,
            wait_timeout_s=settings.redis.wait_timeout_s,
            max_url_bytes=settings.frontier.max_url_bytes,
            max_request_bytes=settings.frontier.max_request_bytes,
            unit=settings.politeness.unit,
            revive=embedded.ensure if embedded else None,
        )
        async with frontier:
            yield frontier
    finally:
        if embedded:
            await asyncio.to_thread(embedded.close)


def config_of(settings: Settings) -> Config:
    """What the shards need of the settings."""
    frontier, politeness = settings.frontier, settings.politeness
    return Config(
        lease_ms=_ms(frontier.lease_s),
        turn_ms=_ms(frontier.turn_s),
        delay_ms=_ms(politeness.delay_s),
        concurrency=politeness.concurrency,
        latency_factor=politeness.latency_factor,
        max_delay_ms=_ms(politeness.max_delay_s),
        max_retry_after_ms=_ms(politeness.max_retry_after_s),
        alone_after_crashes=frontier.alone_after_crashes,
        max_crashes=frontier.max_crashes,
        idle_host_ttl_ms=_ms(frontier.idle_host_ttl_days * 86_400),
    )


def retry_policy_of(settings: RetrySettings) -> RetryPolicy:
    """The retry policy that the settings describe."""
    return RetryPolicy(
        max_attempts=settings.max_attempts,
        base_ms=_ms(settings.base_s),
        factor=settings.factor,
        max_ms=_ms(settings.max_s),
        jitter=settings.jitter,
    )


def embedded_server(settings: EmbeddedSettings) -> EmbeddedServer:
    """The embedded server that the settings describe, not started yet."""
    return EmbeddedServer(
        settings.dir, appendfsync=settings.appendfsync, maxmemory=_bytes(settings.maxmemory)
    )


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


def _bytes(text: str | None) -> int | None:
    if text is None:
        return None
    number = text.lower().removesuffix("b")
    return int(number.rstrip("kmg")) * _UNITS.get(number[-1], 1)
