"""What the spiders give: dictionaries with a name of their kind, and a key.

The key is what an item is told apart by, however often and by whichever address it is met: a
sink that has one with the same key replaces it. Bogus canonical links and bogus SKUs are common, so
a product goes by both where it has both: one of them is enough to keep two products apart.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar
from urllib.parse import urlsplit

from pydantic import BaseModel

from skitter.validate import MODELS

Key = tuple[str, ...]


class Found(dict[str, Any]):
    """An item of any kind. canonical: its url is the one that the page itself gives.

    item_model has the types of its fields, and tracked_fields are those whose changes are kept.
    """

    canonical: bool = False
    item_model: ClassVar[type[BaseModel] | None] = None
    tracked_fields: ClassVar[tuple[str, ...]] = ()

    def item_key(self) -> Key:
        """What it is told apart by; empty: by its page and its content."""
        return ()

    @property
    def host(self) -> str:
        return urlsplit(str(self.get("url", ""))).hostname or ""


class Product(Found):
    """Something that can be bought."""

    item_model = MODELS["product"]
    tracked_fields = ("price", "currency", "regular_price", "stock", "stock_quantity")

    def item_key(self) -> Key:
        sku = str(self.get("sku", ""))
        if sku and not self.canonical:
            return (self.host, sku)
        return (str(self["url"]), sku)


class Quote(Found):
    """What a security costs."""

    item_model = MODELS["quote"]
    tracked_fields = ("price", "currency", "change", "percent", "volume", "market_cap")

    def item_key(self) -> Key:
        ticker = str(self.get("ticker", ""))
        return (self.host, ticker) if ticker else ()


class WebPage(Found):
    """A page as it was found."""


_KINDS: dict[str, type[Found]] = {"product": Product, "quote": Quote}


@lru_cache(maxsize=256)
def class_of(kind: str) -> type[Found]:
    """The class of what a recipe calls an item; one of its own where it is none of ours."""
    return _KINDS.get(kind) or type(kind, (Found,), {})
