"""What a sink is, and which one a URL names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from skitter.errors import UnknownSink
from skitter.masking import mask_text
from skitter.sinks.files import FilesSink
from skitter.sinks.sqlite import SqliteSink
from skitter.sinks.together import Together

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skitter.sinks.item import Item


class Sink(Protocol):
    """Where items are kept.

    It is opened once, written by many tasks at a time, and closed once; other processes may write
    to the same place meanwhile.
    """

    async def open(self) -> None:
        """Make it ready; raises SinkError where it cannot be used."""

    async def put(self, items: Sequence[Item]) -> None:
        """Store items; done when they are durable, whatever then happens to the process.

        All or none of them. An item whose id is there replaces it, so twice is the same as once.
        Raises SinkError, and then to try again is right; or SinkRefused, and then it is useless.
        """

    async def close(self) -> None:
        """Finish what was begun, and let go of everything. Twice is the same as once."""


def _sqlite(url: str) -> Sink:
    return SqliteSink.from_url(url)


def _files(url: str) -> Sink:
    return FilesSink.from_url(url)


def _redis(url: str) -> Sink:
    from skitter.sinks.redis_feed import RedisSink  # noqa: PLC0415 - not loaded where not used

    return RedisSink.from_url(url)


def _postgres(url: str) -> Sink:
    from skitter.sinks.postgres import PostgresSink  # noqa: PLC0415 - it comes with an extra

    return PostgresSink.from_url(url)


def _mongo(url: str) -> Sink:
    from skitter.sinks.mongo import MongoSink  # noqa: PLC0415 - it comes with an extra

    return MongoSink.from_url(url)


SINKS: dict[str, Callable[[str], Sink]] = {
    "sqlite": _sqlite,
    "jsonl": _files,
    "csv": _files,
    "parquet": _files,
    "postgresql": _postgres,
    "postgres": _postgres,
    "mongodb": _mongo,
    "mongodb+srv": _mongo,
    "redis": _redis,
    "rediss": _redis,
    "unix": _redis,
}


def open_sink(url: str | Sequence[str]) -> Sink:
    """The sink that a URL names, chosen by its scheme, and not opened yet.

    Several URLs are several sinks, and what is put is put in all of them.
    """
    if isinstance(url, str):
        return _one(url)
    if len(url) == 1:
        return _one(url[0])
    return Together({mask_text(each): _one(each) for each in url})


def _one(url: str) -> Sink:
    scheme, colon, _ = url.partition(":")
    if not colon or scheme not in SINKS:
        reason = f"its scheme {scheme!r} is not known" if colon else "it has no scheme"
        raise UnknownSink(url=mask_text(url), reason=reason, known=known_schemes())
    return SINKS[scheme](url)


def known_schemes() -> str:
    """The schemes in words, each as it is written in a URL."""
    return ", ".join(f"{scheme}:…" for scheme in sorted(SINKS))
