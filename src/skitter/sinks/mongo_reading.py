"""Items and their history out of MongoDB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skitter.masking import mask_text
from skitter.sinks.extras import extra
from skitter.sinks.mongo import OPTIONS, explain, parse_url
from skitter.sinks.mongo_documents import change_of, history_beside, stored_of

with extra("mongo", what="The sink mongodb://"):
    from pymongo import MongoClient
    from pymongo.errors import PyMongoError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skitter.sinks.paging import Beginning
    from skitter.sinks.stored import Change, Stored, Wanted

_FILTERS = {
    "id": ("_id", "$eq"),
    "since": ("last_seen", "$gte"),
    "until": ("last_seen", "$lt"),
    "changed_since": ("changed_at", "$gte"),
}


def read_collection(url: str, wanted: Wanted, beginning: Beginning) -> Iterator[tuple[str, Stored]]:
    """The items of a collection in the order in which they came, each with its place in it."""
    address, database, collection = parse_url(url)
    query = _query(wanted, beginning)
    try:
        with MongoClient[dict[str, Any]](address, **OPTIONS) as client:
            found = client[database][collection].find(query, batch_size=beginning.at_once)
            for document in found.sort("order", 1):
                stored = stored_of(document)
                if wanted.takes(
                    stored
                ):  # servers alike to MongoDB compare texts in ways of their own
                    yield str(document["order"]), stored
    except PyMongoError as error:
        raise explain(mask_text(address), error) from error


def _query(wanted: Wanted, beginning: Beginning) -> dict[str, Any]:
    query: dict[str, Any] = {}
    for given, value in wanted.given().items():
        name, compare = _FILTERS.get(given, (given, "$eq"))
        query.setdefault(name, {})[compare] = value
    if beginning.after:
        query["order"] = {"$gt": beginning.after}
    return query


def read_collection_history(
    url: str, given: dict[str, Any], beginning: Beginning
) -> Iterator[tuple[str, Change]]:
    """The changes of a collection's items in the order of time."""
    address, database, collection = parse_url(url)
    query = {name: value for name, value in given.items() if name != "since"}
    query |= {"at": {"$gte": given["since"]}} if "since" in given else {}
    try:
        with MongoClient[dict[str, Any]](address, **OPTIONS) as client:
            history = client[database][history_beside(collection)]
            found = history.find(query, batch_size=beginning.at_once)
            for entry in found.sort([("at", 1), ("n", 1)]):
                yield str(entry["_id"]), change_of(entry)
    except PyMongoError as error:
        raise explain(mask_text(address), error) from error
