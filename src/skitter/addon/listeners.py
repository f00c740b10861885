"""Who listens to a signal: what nobody hears need not be sent, and it is sent for each link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydispatch.dispatcher import (  # type: ignore[import-untyped]
    getAllReceivers,
    liveReceivers,
)
from scrapy import signals

from skitter.addon.offsite import Offsite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler


def listeners(crawler: Crawler, signal: object) -> Iterator[Any]:
    """All that hear a signal of this crawler."""
    found: Iterator[Any] = liveReceivers(getAllReceivers(crawler, signal))
    return found


def is_heard(crawler: Crawler, signal: object) -> bool:
    """Whether anybody does."""
    return any(True for _ in listeners(crawler, signal))


def only_offsite_hears(crawler: Crawler) -> bool:
    """Whether nobody but our own middleware hears of requests that are scheduled or dropped."""
    heard = listeners(crawler, signals.request_scheduled)
    return all(
        isinstance(getattr(one, "__self__", None), Offsite) for one in heard
    ) and not is_heard(crawler, signals.request_dropped)
