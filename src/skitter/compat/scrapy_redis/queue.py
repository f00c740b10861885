"""The names that SCHEDULER_QUEUE_CLASS holds. Requests are queued in the frontier.

Within a host the highest priority comes first, then what came first: the order of PriorityQueue,
and of FifoQueue as long as all priorities are equal. LifoQueue asks for depth first, which the
scheduler brings about by priorities (DEPTH_PRIORITY).
"""

from __future__ import annotations

from typing import Any


class FrontierQueue:
    """An order of requests. It holds none itself."""

    depth_first = False

    def __init__(self, *_: Any, **__: Any) -> None:
        raise TypeError(f"{type(self).__name__} names an order; requests are in the frontier")


class FifoQueue(FrontierQueue):
    """First in, first out, among requests of equal priority."""


class PriorityQueue(FrontierQueue):
    """Highest priority first, then first in, first out."""


class LifoQueue(FrontierQueue):
    """Deepest first, then first in, first out."""

    depth_first = True


SpiderQueue = FifoQueue
SpiderStack = LifoQueue
SpiderPriorityQueue = PriorityQueue
