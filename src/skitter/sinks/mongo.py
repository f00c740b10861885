"""Items in MongoDB: `mongodb://user:password@host/database?collection=items`.

Puts that wait are gathered into one ordered bulk of upserts by `_id`, acknowledged by a majority
and in the journal. `order` is set when an item comes for the first time, and keeps the order of
arrival. A server alone has no transactions: a put that fails may have stored its first items, which
then come again and are the same. The driver connects again by itself after a failure.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from skitter.errors import SinkError, SinkRefused, UnknownSink
from skitter.masking import mask_text
from skitter.sinks.database_json import searchable_value
from skitter.sinks.extras import extra
from skitter.sinks.gathering import Gathering
from skitter.sinks.item import Item
from skitter.sinks.stored import Stored

with extra("mongo", what="The sink mongodb://"):
    from bson import ObjectId
    from bson.errors import BSONError
    from pymongo import AsyncMongoClient, MongoClient, UpdateOne, WriteConcern
    from pymongo.errors import BulkWriteError, DocumentTooLarge, PyMongoError
    from pymongo.uri_parser import parse_uri

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

    from skitter.sinks.rows import Row
    from skitter.sinks.stored import Wanted

DEFAULT_DATABASE, DEFAULT_COLLECTION = "skitter", "items"
SELECTION_MS, TIMEOUT_MS = 10_000, 60_000
READ_AT_ONCE = 500
_SAFE = WriteConcern(w="majority", j=True, wtimeout=30_000)
# What a server says of documents that it will never take: too large, not as the schema says.
_ABOUT_VALUES = {2, 9, 121, 10334, 17419, 17420}
_OPTIONS: dict[str, Any] = {
    "serverSelectionTimeoutMS": SELECTION_MS,
    "connectTimeoutMS": SELECTION_MS,
    "socketTimeoutMS": TIMEOUT_MS,
    "appname": "skitter",
}


class MongoSink:
    """A collection of items that any number of processes on any machines write to."""

    def __init__(self, url: str, *, database: str, collection: str) -> None:
        self.name = mask_text(url)
        self._url = url
        self._names = (database, collection)
        self._gathering = Gathering(self.name, self._commit)
        self._client: AsyncMongoClient[dict[str, Any]] | None = None

    @classmethod
    def from_url(cls, url: str) -> Self:
        address, database, collection = parse_url(url)
        return cls(address, database=database, collection=collection)

    @property
    def commits(self) -> int:
        """How many bulks there were; puts at the same time share one."""
        return self._gathering.commits

    async def open(self) -> None:
        """Connect, and make the indexes where they are missing."""
        if self._client is not None:
            return
        self._client = AsyncMongoClient(self._url, **_OPTIONS)
        try:
            await self._collection().create_index("order")
            await self._collection().create_index([("job", 1), ("order", 1)])
        except PyMongoError as error:
            await self.close()
            raise _explain(self.name, error) from error
        self._gathering.open()

    async def put(self, items: Sequence[Item]) -> None:
        """Store items; a majority of the servers has them in its journal when this returns."""
        await self._gathering.put(items)

    async def close(self) -> None:
        """Store what waits, and disconnect."""
        await self._gathering.close()
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _collection(self) -> Any:
        assert self._client is not None  # noqa: S101 - only an open sink comes here
        database, collection = self._names
        return self._client[database].get_collection(collection, write_concern=_SAFE)

    async def _commit(self, rows: list[Row]) -> None:
        try:
            upserts = [_upsert(row) for row in rows]
            await self._collection().bulk_write(upserts, ordered=True)
        except (PyMongoError, BSONError, OverflowError) as error:
            raise _explain(self.name, error) from error


def read_collection(url: str, wanted: Wanted) -> Iterator[Stored]:
    """The items of a collection in the order in which they came."""
    address, database, collection = parse_url(url)
    query: dict[str, Any] = wanted.given()
    if "since" in query:
        query["last_seen"] = {"$gte": query.pop("since")}
    try:
        with MongoClient[dict[str, Any]](address, **_OPTIONS) as client:
            found = client[database][collection].find(query, batch_size=READ_AT_ONCE)
            yield from map(_stored, found.sort("order", 1))
    except PyMongoError as error:
        raise _explain(mask_text(address), error) from error


def parse_url(url: str) -> tuple[str, str, str]:
    """A URL without `collection`, which is not MongoDB's; the database; the collection."""
    address, _, query = url.partition("?")
    pairs = parse_qsl(query, keep_blank_values=True)
    collection = dict(pairs).get("collection") or DEFAULT_COLLECTION
    rest = urlencode([pair for pair in pairs if pair[0] != "collection"])
    address = f"{address}?{rest}" if rest else address
    return address, _database(address), collection


def _database(address: str) -> str:
    """The database that a URL names. A name that has to be looked up in DNS is not, here."""
    checked = address.replace("mongodb+srv://", "mongodb://", 1)
    try:
        return parse_uri(checked)["database"] or DEFAULT_DATABASE
    except (PyMongoError, ValueError) as error:
        known = "mongodb://user:password@host:27017/database?collection=items"
        reason = mask_text(str(error))
        raise UnknownSink(url=mask_text(address), reason=reason, known=known) from error


def _upsert(row: Row) -> UpdateOne:
    identity, job, spider, kind, url, data, attrs, worker, first_seen, last_seen = row
    value, exact = searchable_value(data)
    values, exact_attrs = searchable_value(attrs)
    document = {
        "job": job,
        "spider": spider,
        "kind": kind,
        "url": url,
        "data": value,
        "exact": exact,
        "attrs": values,
        "exact_attrs": exact_attrs,
        "worker": worker,
        "last_seen": last_seen,
    }
    first = {"first_seen": first_seen, "order": ObjectId()}
    return UpdateOne({"_id": identity}, {"$set": document, "$setOnInsert": first}, upsert=True)


def _stored(document: dict[str, Any]) -> Stored:
    item = Item(
        id=document["_id"],
        data=_exact(document, "data", "exact"),
        attrs=_exact(document, "attrs", "exact_attrs"),
        **{name: document[name] for name in ("job", "spider", "url", "kind", "worker")},
    )
    return Stored(item, document["first_seen"], document["last_seen"])


def _exact(document: dict[str, Any], name: str, exact: str) -> dict[str, Any]:
    text = document[exact]
    value: dict[str, Any] = document[name] if text is None else json.loads(text)
    return value


def _explain(name: str, error: Exception) -> SinkError:
    reason = mask_text(str(error) or type(error).__name__)
    refused = isinstance(error, BSONError | OverflowError | DocumentTooLarge)
    if isinstance(error, BulkWriteError):
        failures = error.details.get("writeErrors") or []
        refused = any(failure.get("code") in _ABOUT_VALUES for failure in failures)
        reason = mask_text("; ".join(str(failure.get("errmsg")) for failure in failures)) or reason
    return (SinkRefused if refused else SinkError)(sink=name, reason=reason)
