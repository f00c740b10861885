"""Prices as numbers; what is priced at nothing is not for sale."""

from __future__ import annotations

from typing import Any

from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem


class Prices:
    """An ordinary item pipeline, for items with a price."""

    def process_item(self, item: Any) -> Any:
        fields = ItemAdapter(item)
        if "price" in fields:
            fields["price"] = float(fields["price"].removeprefix("£"))
            if not fields["price"]:
                raise DropItem(f"not for sale: {fields['title']}")
        return item


class Scale:
    """Weights as numbers; a crate without one is empty, and not an item."""

    def process_item(self, item: Any) -> Any:
        fields = ItemAdapter(item)
        if not fields.get("weight"):
            raise DropItem(f"empty: {fields['crate']}")
        fields["weight"] = float(fields["weight"].split()[0])
        return item


class Ledger:
    """An async pipeline that numbers the crates by weight, and opens and closes its book."""

    def open_spider(self) -> None:
        self.seen: set[str] = set()

    async def process_item(self, item: Any) -> Any:
        fields = ItemAdapter(item)
        if fields["crate"] in self.seen:
            raise DropItem(f"entered already: {fields['crate']}")
        self.seen.add(fields["crate"])
        return dict(fields) | {"heavy": fields["weight"] > 6}

    def close_spider(self) -> None:
        self.seen.clear()
