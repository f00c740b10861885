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
