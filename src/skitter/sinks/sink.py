"""What a sink is, and which one a URL names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from skitter.errors import UnknownSink
from skitter.masking import mask_text
from skitter.sinks.sqlite import SqliteSink

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


SINKS: dict[str, Callable[[str], Sink]] = {"sqlite": SqliteSink.from_url}


def open_sink(url: str) -> Sink:
    """The sink that a URL names, chosen by its scheme, and not opened yet."""
    scheme, colon, _ = url.partition(":")
    if not colon or scheme not in SINKS:
        reason = f"its scheme {scheme!r} is not known" if colon else "it has no scheme"
        raise UnknownSink(url=mask_text(url), reason=reason, known=known_schemes())
    return SINKS[scheme](url)


def known_schemes() -> str:
    """The schemes in words, each as it is written in a URL."""
    return ", ".join(f"{scheme}:…" for scheme in sorted(SINKS))
