"""Items as a feed for other programs: `redis://host:6379/0?stream=NAME`, or `?list=NAME`.

Each entry is an item as one JSON object. An item that comes again as it was is not appended again;
one that changed is a further entry with the same id. To know that, the ids of each job are kept
beside the feed for some days after its last item. It is as durable as the server is set up to be
(`appendonly yes`, `appendfsync always`). `maxlen=` bounds it, for consumers that do not trim.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from importlib.resources import files
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

import redis
import redis.asyncio
from redis.exceptions import OutOfMemoryError, RedisError

from skitter.errors import SinkError, SinkFull, UnknownSink
from skitter.masking import mask_text
from skitter.sinks.gathering import Gathering
from skitter.sinks.records import latest, noted, record_of, stored_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

    from skitter.sinks.item import Item
    from skitter.sinks.paging import Beginning
    from skitter.sinks.records import Noted
    from skitter.sinks.rows import Row
    from skitter.sinks.stored import Stored, Wanted

MERGED_ITEMS = 1_000  # a script keeps everyone else waiting
READ_AT_ONCE = 500
TIMEOUT_S = 30.0
REMEMBERED_S = 7 * 86_400
_SCRIPT = files(__package__).joinpath("append_items.lua").read_text(encoding="utf-8")
_KNOWN = "redis://host:6379/0?stream=items, redis://host:6379/0?list=items&maxlen=100000"


@dataclass(frozen=True)
class Feed:
    """What a URL names: a server, a key, its kind (stream or list), and how long it may be."""

    server: str
    key: str
    kind: str
    maxlen: int = 0

    @property
    def name(self) -> str:
        return mask_text(f"{self.server}?{self.kind}={self.key}")

    @classmethod
    def of_url(cls, url: str) -> Self:
        server, _, query = url.partition("?")
        given = dict(parse_qsl(query, keep_blank_values=True))
        kinds = [kind for kind in ("stream", "list") if given.get(kind)]
        if len(kinds) != 1:
            reason = "it names no stream and no list" if not kinds else "it names both"
            raise UnknownSink(url=mask_text(url), reason=reason, known=_KNOWN)
        key, maxlen = given.pop(kinds[0]), given.pop("maxlen", "0")
        if not maxlen.isdecimal():
            raise UnknownSink(url=mask_text(url), reason="maxlen is no number", known=_KNOWN)
        server += f"?{urlencode(given)}" if given else ""
        return cls(server, key, kinds[0], int(maxlen))

    def ids_key(self, job: str) -> str:
        """Where a job's ids are kept: on a cluster, where the feed is."""
        return f"{self.key if '{' in self.key else f'{{{self.key}}}'}:ids:{job}"


class RedisSink:
    """A stream or a list that any number of processes append to."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._gathering = Gathering(feed.name, self._commit, most=MERGED_ITEMS)
        self._client: redis.asyncio.Redis | None = None

    @classmethod
    def from_url(cls, url: str) -> Self:
        return cls(Feed.of_url(url))

    async def open(self) -> None:
        """Connect, and see whether the server answers."""
        if self._client is not None:
            return
        self._client = _client(redis.asyncio.Redis, self._feed)
        try:
            await self._client.ping()
        except RedisError as error:
            await self.close()
            raise _explain(self._feed.name, error) from error
        self._gathering.open()

    async def put(self, items: Sequence[Item]) -> None:
        """Append what is new."""
        await self._gathering.put(items)

    async def close(self) -> None:
        """Append what waits, and disconnect."""
        await self._gathering.close()
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _commit(self, rows: list[Row]) -> None:
        assert self._client is not None  # noqa: S101 - only an open sink comes here
        keys = {self._feed.key: 1}
        values: list[str | int] = [self._feed.kind, self._feed.maxlen, REMEMBERED_S]
        for row in rows:
            ids = self._feed.ids_key(row.job)
            values += [keys.setdefault(ids, len(keys) + 1), row.id, _digest(row), record_of(row)]
        try:
            await self._client.eval(_SCRIPT, len(keys), *keys, *values)
        except RedisError as error:
            raise _explain(self._feed.name, error) from error


def read_feed(url: str, wanted: Wanted, beginning: Beginning) -> Iterator[tuple[str, Stored]]:
    """The items of a feed, each as it was appended last."""
    feed = Feed.of_url(url)
    try:
        with _client(redis.Redis, feed) as client:
            records = _read_stream if feed.kind == "stream" else _read_list
            items = enumerate(latest(map(_noted, records(client, feed.key))))
            for number, (record, *times) in islice(items, int(beginning.after or -1) + 1, None):
                found = stored_of(str(record), *times)
                if wanted.takes(found):
                    yield str(number), found
    except RedisError as error:
        raise _explain(feed.name, error) from error


def _client(kind: type[Any], feed: Feed) -> Any:
    # Not more patient than that: whoever puts tries again.
    return kind.from_url(feed.server, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S)


def _read_stream(client: Any, key: str) -> Iterator[bytes]:
    after = "-"
    while entries := client.xrange(key, min=after, count=READ_AT_ONCE):
        yield from (fields[b"item"] for _, fields in entries)
        after = f"({entries[-1][0].decode()}"


def _read_list(client: Any, key: str) -> Iterator[bytes]:
    begin = 0
    while records := client.lrange(key, begin, begin + READ_AT_ONCE - 1):
        yield from records
        begin += len(records)


def _noted(record: bytes) -> Noted:
    return noted(record, record.decode())


def _digest(row: Row) -> str:
    """What tells whether an item changed: all of it but the time and who brought it."""
    content = "\n".join(row[1:7])
    return blake2b(content.encode(), digest_size=9).hexdigest()


def _explain(name: str, error: RedisError) -> SinkError:
    kind = SinkFull if isinstance(error, OutOfMemoryError) else SinkError
    return kind(sink=name, reason=mask_text(str(error) or type(error).__name__))
