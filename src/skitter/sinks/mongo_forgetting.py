"""Items of a collection in MongoDB that were not seen for long, deleted while others write there.

Their history goes first: whoever dies between leaves items that go in the next round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skitter.masking import mask_text
from skitter.sinks.extras import extra
from skitter.sinks.mongo import OPTIONS, SAFE, explain, parse_url
from skitter.sinks.mongo_documents import history_beside

with extra("mongo", what="The sink mongodb://"):
    from pymongo import DeleteOne, MongoClient
    from pymongo.errors import PyMongoError

if TYPE_CHECKING:
    from pymongo.database import Database

    from skitter.sinks.paging import Beginning

_SEEN = {"order": 1, "last_seen": 1}


def forget_in_collection(url: str, before: str, beginning: Beginning) -> tuple[int, str]:
    """Delete what a part of a collection has that is older; how many, and where the part ends."""
    address, database, collection = parse_url(url)
    try:
        with MongoClient[dict[str, Any]](address, **OPTIONS) as client:
            return _forget(client[database], collection, before, beginning)
    except PyMongoError as error:
        raise explain(mask_text(address), error) from error


def _forget(
    database: Database[dict[str, Any]], collection: str, before: str, beginning: Beginning
) -> tuple[int, str]:
    items = database.get_collection(collection, write_concern=SAFE)
    query = {"order": {"$gt": beginning.after}} if beginning.after else {}
    part = list(items.find(query, _SEEN).sort("order", 1).limit(beginning.at_once))
    end = str(part[-1]["order"]) if len(part) == beginning.at_once else ""
    # Compared here: servers alike to MongoDB compare texts in ways of their own.
    old = [document for document in part if document["last_seen"] < before]
    if not old:
        return 0, end
    history = database.get_collection(history_beside(collection), write_concern=SAFE)
    history.delete_many({"item": {"$in": [document["_id"] for document in old]}})
    # One that came again meanwhile has another time, and stays.
    deletes = [DeleteOne({"_id": each["_id"], "last_seen": each["last_seen"]}) for each in old]
    return items.bulk_write(deletes, ordered=False).deleted_count, end
