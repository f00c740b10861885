"""An item on its way to a sink, and the identity that makes twice the same as once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from typing import Any

from itemadapter import ItemAdapter

from skitter import __version__
from skitter.errors import UnstorableItem
from skitter.sinks.json_text import to_json
from skitter.sinks.shape import Shape


@dataclass(slots=True)
class Item:
    """One accepted item.

    kind is the name of its class. attrs are its job's, handed through. id is its identity: what a
    sink goes by when it replaces an item that comes again. fetched_at is when the head of its
    page's response arrived, as sinks write times, and parser what read it: names with versions.
    shape is what its class says of such items; it is no part of the item, and not stored with it.
    """

    id: str
    job: str
    spider: str
    url: str
    kind: str
    data: dict[str, Any]
    worker: str = ""
    attrs: dict[str, Any] = field(default_factory=dict)
    fetched_at: str = ""
    parser: str = ""
    shape: Shape | None = field(default=None, compare=False, repr=False)

    def as_dict(self) -> dict[str, Any]:
        """All that is stored of it."""
        return {name: getattr(self, name) for name in STORED}


STORED = tuple(part.name for part in fields(Item) if part.name != "shape")


def fields_of(item: Any, *, url: str) -> dict[str, Any]:
    """The fields of whatever a spider may call an item: a dict, a Scrapy item, a dataclass, …"""
    if type(item) is dict:
        return dict(item)
    if not ItemAdapter.is_item(item):
        reason = f"is of type {type(item).__name__}, which is no kind of item"
        raise UnstorableItem(url=url, field="(all of it)", reason=reason)
    return dict(ItemAdapter(item))


def key_of(item: Any, fields: Sequence[str] = ()) -> tuple[str, ...]:
    """The key by which an item is told apart: by its class's method `item_key`, or by fields.

    Without either, and where one of the fields has no value, it has none.
    """
    ask = getattr(type(item), "item_key", None)
    if ask is not None:
        return tuple(map(str, ask(item)))
    if not fields or not ItemAdapter.is_item(item):
        return ()
    adapter = ItemAdapter(item)
    values = [adapter.get(name) for name in fields]
    return () if None in values else tuple(map(str, values))


def identify_by_key(key: tuple[str, ...], *, spider: str, kind: str) -> str:
    """The identity of an item with a key: the same wherever, and in however many runs, it is met.

    Keys are a spider's own: what two spiders call by one key are two items.
    """
    return _digest("key", spider, kind, *key)


def parser_of(spider: Any) -> str:
    """What reads a spider's pages: Skitter, and the spider and its recipe if they say versions."""
    parts = [f"skitter/{__version__}"]
    parts_of_spider: tuple[Any, ...] = (spider, getattr(spider, "recipe", None))
    for part in parts_of_spider:
        version = getattr(part, "version", None)
        if version is not None:
            parts.append(f"{part.name}/{version}")
    return " ".join(parts)


def identify(data: Any, *, job: str, url: str, occurrence: int) -> str:
    """The identity of what a page gave: the same page replayed gives the same ones.

    It is made of job, URL and content. occurrence tells equal items of one page apart: 0 for the
    first, 1 for the second. Raises UnstorableItem, so that a page learns at once which of its
    items no sink will take.
    """
    return _digest(job, url, str(occurrence), to_json(data, url=url, sort_keys=True))


def _digest(*parts: str) -> str:
    digest = blake2b(digest_size=16)
    for part in parts:
        text = part.encode("utf-8", "surrogatepass")
        digest.update(b"%d:%b" % (len(text), text))
    return digest.hexdigest()
