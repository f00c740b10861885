"""`SCHEDULER = "skitter.compat.scrapy_redis.scheduler.Scheduler"` switches the add-on on.

Whoever asks this module for its class may be Scrapy, building an engine: see `switching`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skitter.compat.scrapy_redis import frontier_scheduler
from skitter.compat.scrapy_redis.switching import switch_on_late

if TYPE_CHECKING:
    from skitter.compat.scrapy_redis.frontier_scheduler import Scheduler

__all__ = ["Scheduler"]


def __getattr__(name: str) -> Any:
    if name != "Scheduler":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    switch_on_late()
    return frontier_scheduler.Scheduler
