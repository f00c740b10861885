"""Counts in a crawler's stats, many for each page.

Scrapy wraps each call of a collector to look for an argument of old; its own collector's numbers
are a dictionary, which is added to directly. Another collector is asked as ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.statscollectors import MemoryStatsCollector, StatsCollector

if TYPE_CHECKING:
    from collections.abc import Callable


def counter(stats: StatsCollector) -> Callable[..., None]:
    """`count(name, number=1)` for a collector."""
    if type(stats) is not MemoryStatsCollector:
        return stats.inc_value
    fields: dict[str, Any] = vars(stats)

    def count(name: str, number: int = 1) -> None:
        numbers = fields["_stats"]  # looked up each time, for it may be replaced
        numbers[name] = numbers.get(name, 0) + number

    return count
