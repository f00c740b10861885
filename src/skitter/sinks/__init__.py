"""Accepted items on their way to where they are kept.

`open_sink` gives the sink that a URL names, `read_items` what one holds. A sink's `put` returns
when the items are durable, and the same item twice is one item: that is all an engine needs to
know to lose nothing and to double nothing.
"""

from skitter.sinks.item import Item, fields_of, identify, identify_by_key, key_of
from skitter.sinks.reading import export_items, read_items, read_stored
from skitter.sinks.sink import Sink, open_sink
from skitter.sinks.stored import Stored, Wanted

__all__ = [
    "Item",
    "Sink",
    "Stored",
    "Wanted",
    "export_items",
    "fields_of",
    "identify",
    "identify_by_key",
    "key_of",
    "open_sink",
    "read_items",
    "read_stored",
]
