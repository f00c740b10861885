"""Skitter: a distributed crawler that loses nothing and never hammers a site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skitter.crawl import Crawl

__version__ = "0.1.0"
__all__ = ["Crawl", "__version__"]


def __getattr__(name: str) -> Any:
    """`skitter.Crawl` comes with all that a crawl needs; importing Skitter alone stays quick."""
    if name == "Crawl":
        from skitter.crawl import Crawl  # noqa: PLC0415 - that is the point

        return Crawl
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
