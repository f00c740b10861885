"""An item on its way to a sink, and the identity that makes twice the same as once."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from itemadapter import ItemAdapter

from skitter.errors import UnstorableItem
from skitter.sinks.json_text import to_json


@dataclass(slots=True)
class Item:
    """One accepted item.

    kind is the name of its class. attrs are its job's, handed through. id is its identity: what a
    sink goes by when it replaces an item that comes again.
    """

    id: str
    job: str
    spider: str
    url: str
    kind: str
    data: dict[str, Any]
    worker: str = ""
    attrs: dict[str, Any] = field(default_factory=dict)


def fields_of(item: Any, *, url: str) -> dict[str, Any]:
    """The fields of whatever a spider may call an item: a dict, a Scrapy item, a dataclass, …"""
    if type(item) is dict:
        return dict(item)
    if not ItemAdapter.is_item(item):
        reason = f"is of type {type(item).__name__}, which is no kind of item"
        raise UnstorableItem(url=url, field="(all of it)", reason=reason)
    return dict(ItemAdapter(item))


def key_of(item: Any) -> tuple[str, ...]:
    """The key by which an item's class tells its items apart, by a method `item_key`; or none."""
    ask = getattr(type(item), "item_key", None)
    return tuple(map(str, ask(item))) if ask is not None else ()


def identify_by_key(key: tuple[str, ...], *, job: str, kind: str) -> str:
    """The identity of an item with a key: the same wherever and however often it is met."""
    return _digest("key", job, kind, *key)


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
