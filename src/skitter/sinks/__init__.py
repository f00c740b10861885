"""Accepted items on their way to where they are kept.

`open_sink` gives the sink that a URL names, `read_items` what one holds. A sink's `put` returns
when the items are durable, and the same item twice is one item: that is all an engine needs to
know to lose nothing and to double nothing.
"""

from skitter.sinks.item import Item, fields_of, identify
from skitter.sinks.reading import export_items, read_items
from skitter.sinks.sink import Sink, open_sink

__all__ = [
    "Item",
    "Sink",
    "export_items",
    "fields_of",
    "identify",
    "open_sink",
    "read_items",
]
