"""Prices as numbers."""

from __future__ import annotations

from typing import Any

from itemadapter import ItemAdapter


class Prices:
    def process_item(self, item: Any) -> Any:
        fields = ItemAdapter(item)
        if "price" in fields:
            fields["price"] = float(str(fields["price"]).lstrip("£"))
        return item
