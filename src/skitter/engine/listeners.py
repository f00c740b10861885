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


class Hearing:
    """Who hears the signals of one crawler, looked up again when somebody connects.

    What Scrapy's own CoreStats and our Offsite would do with a signal is done without it.
    """

    _OWN = (CoreStats, Offsite)

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._known: dict[object, bool] = {}
        self._watch(crawler.signals)

    def __call__(self, signal: object) -> bool:
        """Whether somebody hears it who has to be told."""
        heard = self._known.get(signal)
        if heard is None:
            heard = self._known[signal] = any(
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
            self._known.clear()
            method(*args, **kwargs)

        return call
