"""Who listens to a signal: what nobody hears need not be sent, and some are sent for each link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydispatch.dispatcher import (  # type: ignore[import-untyped]
    getAllReceivers,
    liveReceivers,
)
from scrapy import signals
from scrapy.extensions.corestats import CoreStats

from skitter.engine.offsite import Offsite

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


class Hearing(dict[object, bool]):
    """Who hears the signals of one crawler, looked up again when somebody connects.

    What Scrapy's own CoreStats and our Offsite would do with a signal is done without it. It is
    asked several times for each page, hence a dictionary: `hears(signal)`.
    """

    _OWN = (CoreStats, Offsite)
    __call__ = dict.__getitem__

    def __init__(self, crawler: Crawler) -> None:
        super().__init__()
        self._crawler = crawler
        self._watch(crawler.signals)

    def __missing__(self, signal: object) -> bool:
        """Whether somebody hears it who has to be told."""
        heard = self[signal] = any(
            type(getattr(one, "__self__", None)) not in self._OWN
            for one in listeners(self._crawler, signal)
        )
        return heard

    def _watch(self, manager: Any) -> None:
        """Hear of connections and disconnections."""
        for name in ("connect", "disconnect", "disconnect_all"):
            setattr(manager, name, self._forgetting(getattr(manager, name)))

    def _forgetting(self, method: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> None:
            self.clear()
            method(*args, **kwargs)

        return call
