"""Accepted items on their way to where they are kept.

`open_sink` gives the sink that a URL names, `read_items` what one holds. A sink's `put` returns
when the items are durable, and the same item twice is one item: that is all an engine needs to
know to lose nothing and to double nothing.
"""

from skitter.sinks.item import Item, fields_of, identify, identify_by_key, key_of, parser_of
from skitter.sinks.reading import (
    export_items,
    read_history,
    read_items,
    read_page,
    read_stored,
)
from skitter.sinks.shape import Shape, shape_of
from skitter.sinks.sink import Sink, open_sink
from skitter.sinks.stored import Change, Stored, Wanted

__all__ = [
    "Change",
    "Item",
    "Shape",
    "Sink",
    "Stored",
    "Wanted",
    "export_items",
    "fields_of",
    "identify",
    "identify_by_key",
    "key_of",
    "open_sink",
    "parser_of",
    "read_history",
    "read_items",
    "read_page",
    "read_stored",
    "shape_of",
]
