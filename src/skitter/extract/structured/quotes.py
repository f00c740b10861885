"""Quote fields from structured data: ticker, price, change, percent, volume, and their like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from skitter.extract.cleaned import Cleaned, Refused
from skitter.extract.currencies import codes, resolve_currency
from skitter.extract.dates import clean_date
from skitter.extract.fields import Field, Fields, field_of
from skitter.extract.locale import MACHINE, UNDECLARED, Locale
from skitter.extract.numbers import clean_number, clean_percent
from skitter.extract.structured.nodes import Node, first_text
from skitter.extract.structured.products import the_one
from skitter.extract.structured.reading import Structured
from skitter.extract.text import clean_text

_TEXTS = {
    "ticker": ("tickerSymbol", "ticker"),
    "name": ("name", "legalName"),
    "exchange": ("exchange",),
}
_NUMBERS = {
    "price": ("price",),
    "change": ("priceChange",),
    "percent": ("priceChangePercent",),
    "volume": ("volume",),
    "market_cap": ("marketCap", "marketCapitalization"),
}


def main_quote(data: Structured, locale: Locale = UNDECLARED, *, url: str = "") -> Fields:
    """The quote that a page is about; empty if it says nothing of one."""
    for origin, nodes in _sources(data):
        node = the_one(nodes, url or data.base)
        if node is not None:
            return _fields(node, origin, locale)
    return {}


def all_quotes(data: Structured, locale: Locale = UNDECLARED) -> list[Fields]:
    """Every quote of a page."""
    for origin, nodes in _sources(data):
        if nodes:
            return [_fields(node, origin, locale) for node in nodes]
    return []


def _sources(data: Structured) -> list[tuple[str, list[Node]]]:
    return [
        (origin, [node for node in nodes if first_text(node, "tickerSymbol") and node.get("price")])
        for origin, nodes in (("json-ld", data.json_ld), ("microdata", data.microdata))
    ]


def _fields(node: Node, origin: str, locale: Locale) -> Fields:
    found: Fields = {}
    for name, properties in _TEXTS.items():
        if text := first_text(node, *properties):
            found[name] = field_of(clean_text(text), f"{origin} {properties[0]}")
    for name, properties in _NUMBERS.items():
        if text := first_text(node, *properties):
            clean = clean_percent if name == "percent" else clean_number
            found[name] = field_of(_number(text, clean, locale), f"{origin} {properties[0]}")
    if text := first_text(node, "quoteTime", "dateModified"):
        found["time"] = field_of(clean_date(text, locale), f"{origin} quoteTime")
    found |= _currency(first_text(node, "priceCurrency", "currency"), origin, locale)
    return found


def _number(
    text: str, clean: Callable[..., Cleaned[Any] | Refused], locale: Locale
) -> Cleaned[Any] | Refused:
    """As machines write, or else as the source does."""
    result = clean(text, MACHINE)
    return clean(text, locale) if isinstance(result, Refused) else result


def _currency(text: str, origin: str, locale: Locale) -> Fields:
    if not text:
        return {}
    code = text if text in codes() else resolve_currency(text, locale.currency)
    reason = "" if code else "several currencies are written so, or none that is known"
    return {
        "currency": Field(code or None, text, f"{origin} priceCurrency", reason),
        "currency_raw": Field(text, text, f"{origin} priceCurrency"),
    }
