"""The lab's truth in the words of items, and both in a form that can be compared.

A field that one has and the other has not is a difference too.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

STATES = {
    "InStock": "in_stock",
    "OutOfStock": "out_of_stock",
    "PreOrder": "preorder",
    "BackOrder": "backorder",
}
BESIDES = {"raw", "problems", "recipe", "rating_best"}
"""What an item tells of how it was read, and what the truth does not say."""
AMOUNTS = ("price", "regular_price", "rating", "change", "percent", "previous_close")
Row = dict[str, Any]


def product_truth(row: Row) -> Row:
    """The truth of a product, in the words of an item."""
    same = ("url", "sku", "name", "brand", "description", "images", "price", "regular_price")
    was = row["regular_price"]
    return {name: row[name] for name in (*same, "currency", "rating")} | {
        "category": " > ".join(row["category"]),
        "stock": STATES[row["availability"]],
        "stock_quantity": row["stock"],
        "rating_count": row["reviews"],
        "regular_price_currency": row["currency"] if was else None,
    }


def quote_truth(row: Row) -> Row:
    """The truth of a quote; its address is that of the page that tells it."""
    aside = ("version", "host", "api_url")
    own = {name: value for name, value in row.items() if name not in aside}
    return own | {"url": row["api_url"] or row["url"]}


def by(key: str, rows: Iterable[Row]) -> dict[str, Row]:
    """Rows by their key, in a form that can be compared."""
    return {row[key]: comparable(row) for row in rows}


def comparable(row: Row) -> Row:
    kept = {
        name: value
        for name, value in row.items()
        if value is not None and name not in BESIDES and not name.endswith("currency_raw")
    }
    amounts = {name: Decimal(kept[name]) for name in AMOUNTS if name in kept}
    time = {"time": datetime.fromisoformat(kept["time"])} if "time" in kept else {}
    return kept | amounts | time
