"""What only sinks on a server have: a server that dies and comes back, and queries there."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import psycopg
import pytest
import redis
from structlog.testing import capture_logs

from skitter.errors import SinkError, SinkRefused, UnknownSink
from skitter.sinks import open_sink
from skitter.sinks.postgres import PostgresSink
from tests.contract.sinks.items import ids, make_item
from tests.servers.mongo import MongoProcess
from tests.servers.postgres import PostgresProcess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from skitter.sinks import Sink
    from tests.servers import ServerProcess


@pytest.fixture(params=[PostgresProcess, MongoProcess])
def mortal(request: pytest.FixtureRequest) -> Iterator[PostgresProcess | MongoProcess]:
    """A server for one test, which is there to be killed."""
    with request.param() as server:
        yield server


@pytest.fixture
def table_url(postgres_server: PostgresProcess, request: pytest.FixtureRequest) -> str:
    return f"{postgres_server.url}?table={request.node.name[:40]}"


async def put_until_taken(sink: Sink, names: list[str]) -> int:
    """Put as an intake does, again and again; how often it failed."""
    failures = 0
    async with asyncio.timeout(60):
        while True:
            try:
                await sink.put([make_item(name) for name in names])
                return failures
            except SinkRefused:
                raise
            except SinkError:
                failures += 1
                await asyncio.sleep(0.05)


async def test_a_server_that_is_killed_and_started_again(
    mortal: PostgresProcess | MongoProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(_mongo_options(), "serverSelectionTimeoutMS", 500)
    sink = open_sink(mortal.url)
    await sink.open()
    await sink.put([make_item("before")])
    mortal.kill()
    with pytest.raises(SinkError) as caught:
        await sink.put([make_item("during")])
    assert not isinstance(caught.value, SinkRefused)
    waiting = asyncio.create_task(put_until_taken(sink, ["during", "after"]))
    await asyncio.to_thread(mortal.start)
    await waiting
    await sink.close()
    assert ids(mortal.url) == ["before", "during", "after"]


async def test_a_sink_that_is_killed_holds_back_and_the_others_keep_what_they_have(
    tmp_path: Path,
) -> None:
    with PostgresProcess() as server:
        urls = [f"sqlite:{tmp_path}/items.db", server.url, f"jsonl:{tmp_path}/data"]
        sink = open_sink(urls)
        await sink.open()
        await sink.put([make_item("before")])
        server.kill()
        with capture_logs() as logs:
            with pytest.raises(SinkError, match="postgresql"):
                await sink.put([make_item("during")])
            assert [ids(urls[0]), ids(urls[2])] == [["before", "during"]] * 2
            waiting = asyncio.create_task(put_until_taken(sink, ["during", "after"]))
            await asyncio.to_thread(server.start)
            await waiting
        await sink.close()
        assert [ids(url) for url in urls] == [["before", "during", "after"]] * 3
    told = [line["event"] for line in logs]
    assert told.count("a sink holds the others back") == 1
    assert told.count("a sink is back") == 1


def _mongo_options() -> dict[str, object]:
    from skitter.sinks import mongo  # noqa: PLC0415

    return mongo.OPTIONS


async def test_a_server_that_is_not_there() -> None:
    for url in ("postgresql://u:secret@127.0.0.1:1/db", "redis://:secret@127.0.0.1:1?stream=s"):
        with pytest.raises(SinkError) as caught:
            await open_sink(url).open()
        assert "secret" not in str(caught.value)


async def test_puts_at_the_same_time_share_transactions(table_url: str) -> None:
    sink = PostgresSink.from_url(table_url)
    await sink.open()
    await asyncio.gather(*(sink.put([make_item(str(n))]) for n in range(500)))
    await sink.close()
    assert sink.commits < 20


async def test_data_can_be_queried_as_jsonb(table_url: str) -> None:
    sink = open_sink(table_url)
    await sink.open()
    await sink.put([make_item("a", offer={"price": 5}, text="half \ud800 and \x00")])
    await sink.close()
    with psycopg.connect(table_url.partition("?")[0]) as connection:
        query = "SELECT data->'offer'->'price', data->>'text', first_seen = last_seen FROM {}"
        name = psycopg.sql.Identifier(table_url.partition("table=")[2])
        (row,) = connection.execute(psycopg.sql.SQL(query).format(name))
    assert row == (5, "half \ufffd and \ufffd", True)


async def test_what_the_table_refuses_is_one_puts_error(table_url: str) -> None:
    sink = open_sink(table_url)
    await sink.open()
    puts = [[make_item("a")], [make_item("b"), make_item("nul \x00")], [make_item("c")]]
    results = await asyncio.gather(*map(sink.put, puts), return_exceptions=True)
    await sink.close()
    assert [type(result) for result in results] == [type(None), SinkRefused, type(None)]
    assert ids(table_url) == ["a", "c"]


async def test_items_come_back_in_the_order_in_which_they_came(table_url: str) -> None:
    sink = open_sink(table_url)
    await sink.open()
    await sink.put([make_item(name) for name in ("c", "a", "b")])
    await sink.put([make_item(name) for name in ("0", "a")])
    await sink.close()
    assert ids(table_url) == ["c", "a", "b", "0"]


async def test_a_feed_has_an_entry_for_each_change_and_none_for_a_replay(
    redis_server: ServerProcess,
) -> None:
    address = redis_server.url
    sink = open_sink(f"{address}?stream=changes")
    await sink.open()
    for price in (1, 1, 2, 2):
        await sink.put([make_item("a", price=price), make_item("b")])
    await sink.close()
    with redis.Redis.from_url(address) as client:
        entries = client.xrange("changes")
        kept_s = client.ttl("{changes}:ids:books")
    assert [fields[b"id"] for _, fields in entries] == [b"a", b"b", b"a"]
    assert 0 < int(kept_s) <= 7 * 86_400


async def test_a_list_has_an_end(redis_server: ServerProcess) -> None:
    address = redis_server.url
    sink = open_sink(f"{address}?list=short&maxlen=3")
    await sink.open()
    await sink.put([make_item(str(n)) for n in range(10)])
    await sink.close()
    assert ids(f"{address}?list=short") == ["7", "8", "9"]


@pytest.mark.parametrize(
    "url",
    [
        "redis://h:6379/0",
        "redis://h?stream=a&list=b",
        "redis://h?list=a&maxlen=many",
        "mongodb://u:p@ss@h/db",
        "postgresql://h/db?nothing=known",
        f"postgresql://h/db?table={'t' * 60}",
    ],
)
def test_a_url_that_names_no_sink(url: str) -> None:
    with pytest.raises(UnknownSink):
        open_sink(url)
