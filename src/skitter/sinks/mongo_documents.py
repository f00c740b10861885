"""Items as documents of MongoDB, and what has to be written for a row on what is there.

`order` is set when an item comes for the first time, and keeps the order of arrival. `rev` counts
the writes of a document: an upsert names the one that it saw, and cannot replace another. The last
change of its tracked fields is in the document itself, written at once with it; the history has all
of them under ids made of the item's and their number, so that to note one twice is harmless.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from skitter.sinks.database_json import searchable_value
from skitter.sinks.extras import extra
from skitter.sinks.item import Item
from skitter.sinks.stored import Change, Stored

with extra("mongo", what="The sink mongodb://"):
    from bson import ObjectId
    from pymongo import UpdateOne

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from skitter.sinks.rows import Row

DEFAULT_COLLECTION = "items"
KNOWN = {"rev": 1, "tracked": 1, "content": 1, "change": 1, "first_seen": 1}
"""What has to be known of a document that may be replaced."""
Document = dict[str, Any]


@dataclass
class Plan:
    """What to write for rows: changes that may not be noted yet, the items, and new changes."""

    before: list[UpdateOne] = field(default_factory=list)
    upserts: list[UpdateOne] = field(default_factory=list)
    after: list[UpdateOne] = field(default_factory=list)

    @classmethod
    def of(cls, rows: Iterable[Row], there: Mapping[str, Document]) -> Plan:
        plan = cls()
        for row in rows:
            plan._add(row, there.get(row.id) or {})
        return plan

    def _add(self, row: Row, old: Document) -> None:
        document = _document(row)
        noted = old.get("change")
        if _changed(old, document):
            document["changed_at"] = row.seen
            if change := _change(row, old):
                document["change"] = change
                self.after.append(_note(change))
        # One of this job may be of a put that failed half way.
        if noted and ("change" in document or noted["job"] == row.job):
            self.before.append(_note(noted))
        self.upserts.append(_upsert(row, document, rev=old.get("rev") if old else 0))


def _document(row: Row) -> Document:
    value, exact = searchable_value(row.data)
    values, exact_attrs = searchable_value(row.attrs)
    return {
        "job": row.job,
        "spider": row.spider,
        "kind": row.kind,
        "url": row.url,
        "data": value,
        "exact": exact,
        "attrs": values,
        "exact_attrs": exact_attrs,
        "worker": row.worker,
        "fetched_at": row.fetched_at,
        "parser": row.parser,
        "tracked": row.tracked,
        "content": blake2b(row.data.encode(), digest_size=12).hexdigest(),
        "last_seen": row.seen,
    }


def _changed(old: Document, new: Document) -> bool:
    """Without tracked fields on either side, any field that differs is a change."""
    if old.get("tracked") is None or new["tracked"] is None:
        return bool(old.get("content") != new["content"])
    return bool(old["tracked"] != new["tracked"])


def _change(row: Row, old: Document) -> Document | None:
    """The entry in the history, where there are tracked fields on both sides."""
    if old.get("tracked") is None or row.tracked is None:
        return None
    number = (old.get("change") or {}).get("n", 0) + 1
    before, exact_before = searchable_value(old["tracked"])
    after, exact_after = searchable_value(row.tracked)
    return {
        "_id": f"{row.id}:{number}",
        "item": row.id,
        "n": number,
        "at": row.seen,
        "job": row.job,
        "before": before,
        "exact_before": exact_before,
        "after": after,
        "exact_after": exact_after,
    }


def _note(change: Document) -> UpdateOne:
    values = {name: value for name, value in change.items() if name != "_id"}
    return UpdateOne({"_id": change["_id"]}, {"$set": values}, upsert=True)


def _upsert(row: Row, document: Document, *, rev: int | None) -> UpdateOne:
    first = {"first_seen": row.seen, "first_job": row.job, "order": str(ObjectId())}
    values = {"$set": document | {"rev": (rev or 0) + 1}, "$setOnInsert": first}
    return UpdateOne({"_id": row.id, "rev": rev}, values, upsert=True)


def history_beside(collection: str) -> str:
    """The collection of changes: `history` for `items`, else after the collection's name."""
    return "history" if collection == DEFAULT_COLLECTION else f"{collection}_history"


def stored_of(document: Document) -> Stored:
    """An item as it is there; what earlier versions did not write is empty."""
    names = ("job", "spider", "url", "kind", "worker")
    later = ("fetched_at", "parser")
    item = Item(
        id=document["_id"],
        data=_exact(document, "data", "exact"),
        attrs=_exact(document, "attrs", "exact_attrs"),
        **{name: document[name] for name in names},
        **{name: document.get(name, "") for name in later},
    )
    times = (document["first_seen"], document["last_seen"])
    return Stored(item, *times, document.get("first_job", ""), document.get("changed_at", ""))


def change_of(entry: Document) -> Change:
    """A change as it is in the history."""
    before = _exact(entry, "before", "exact_before")
    after = _exact(entry, "after", "exact_after")
    return Change(entry["item"], entry["at"], entry["job"], before, after)


def _exact(document: Document, name: str, exact: str) -> Document:
    text = document[exact]
    value: Document = document[name] if text is None else json.loads(text)
    return value
