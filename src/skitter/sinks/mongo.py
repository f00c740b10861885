"""Items in MongoDB: `mongodb://user:password@host/database?collection=items`.

Puts that wait are gathered into one ordered bulk of upserts by `_id`, acknowledged by a majority
and in the journal. A server alone has no transactions: a put that fails may have stored its first
items, which then come again and are the same; and what an item was is read before it is replaced,
by an upsert that fails if another has replaced it meanwhile (see mongo_documents). The driver
connects again by itself after a failure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from skitter.errors import SinkError, SinkRefused, UnknownSink
from skitter.masking import mask_text
from skitter.sinks.extras import extra
from skitter.sinks.gathering import Gathering
from skitter.sinks.mongo_documents import DEFAULT_COLLECTION, KNOWN, Plan, history_beside

with extra("mongo", what="The sink mongodb://"):
    from bson.errors import BSONError
    from pymongo import AsyncMongoClient, UpdateOne, WriteConcern
    from pymongo.errors import BulkWriteError, DocumentTooLarge, PyMongoError
    from pymongo.uri_parser import parse_uri

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from skitter.sinks.item import Item
    from skitter.sinks.rows import Row

DEFAULT_DATABASE = "skitter"
SELECTION_MS, TIMEOUT_MS = 10_000, 60_000
MOST_RACES = 20
SAFE = WriteConcern(w="majority", j=True, wtimeout=30_000)
_TAKEN = 11000  # the key is there: what the upsert looked for is no more as it was
# What a server says of documents that it will never take: too large, not as the schema says.
_ABOUT_VALUES = {2, 9, 121, 10334, 17419, 17420}
OPTIONS: dict[str, Any] = {
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
        self._history = history_beside(collection)
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
        self._client = AsyncMongoClient(self._url, **OPTIONS)
        try:
            await self._collection().create_index("order")
            await self._collection().create_index([("job", 1), ("order", 1)])
            await self._collection(self._history).create_index([("item", 1), ("n", 1)])
        except PyMongoError as error:
            await self.close()
            raise explain(self.name, error) from error
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

    def _collection(self, name: str = "") -> Any:
        assert self._client is not None  # noqa: S101 - only an open sink comes here
        database, collection = self._names
        return self._client[database].get_collection(name or collection, write_concern=SAFE)

    async def _commit(self, rows: list[Row]) -> None:
        try:
            for _ in range(MOST_RACES):
                if await self._write(rows):
                    return
        except (PyMongoError, BSONError, OverflowError) as error:
            raise explain(self.name, error) from error
        raise SinkError(sink=self.name, reason="others write the same items all the time")

    async def _write(self, rows: list[Row]) -> bool:
        """Write rows on what is there; False if another was faster, and it is to be looked again.

        What changed goes to the history after the items, since a change of nothing would be worse
        than one that is noted when the page comes again.
        """
        known = self._collection().find({"_id": {"$in": [row.id for row in rows]}}, KNOWN)
        plan = Plan.of(rows, {document["_id"]: document async for document in known})
        await self._note(plan.before)
        try:
            await self._collection().bulk_write(plan.upserts, ordered=True)
        except BulkWriteError as error:
            failures = error.details.get("writeErrors") or []
            if any(failure.get("code") == _TAKEN for failure in failures):
                return False
            raise
        await self._note(plan.after)
        return True

    async def _note(self, changes: list[UpdateOne]) -> None:
        if changes:
            await self._collection(self._history).bulk_write(changes, ordered=True)


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


def explain(name: str, error: Exception) -> SinkError:
    """An error of the driver's as one of a sink's."""
    reason = mask_text(str(error) or type(error).__name__)
    refused = isinstance(error, BSONError | OverflowError | DocumentTooLarge)
    if isinstance(error, BulkWriteError):
        failures = error.details.get("writeErrors") or []
        refused = any(failure.get("code") in _ABOUT_VALUES for failure in failures)
        reason = mask_text("; ".join(str(failure.get("errmsg")) for failure in failures)) or reason
    return (SinkRefused if refused else SinkError)(sink=name, reason=reason)
