"""Start messages are taken from lists, sets and sorted sets, and none is lost on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from skitter.compat.scrapy_redis.start_urls import Batch, StartUrls
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.servers import ServerProcess

pytestmark = pytest.mark.integration


@pytest.fixture(params=["valkey", "redis"])
def server_url(request: pytest.FixtureRequest) -> str:
    """One key after the other: no cluster."""
    server: ServerProcess = request.getfixturevalue(f"{request.param}_server")
    return server.url


@pytest.fixture
async def client(server_url: str) -> AsyncIterator[Any]:
    async with Redis.from_url(server_url) as client:
        yield client


@pytest.fixture
def urls(client: Any, namespace: str) -> StartUrls:
    return StartUrls(client, f"{namespace}:start_urls", in_hand_ms=300)


async def test_list_is_taken_from_its_head(urls: StartUrls, client: Any) -> None:
    await client.rpush(urls.key, *"abc")
    assert _data(await urls.take(2)) == [b"a", b"b"]
    assert _data(await urls.take(2)) == [b"c"]
    assert await urls.take(2) is None


async def test_set_is_taken_in_any_order(urls: StartUrls, client: Any) -> None:
    await client.sadd(urls.key, *"abc")
    assert sorted(_data(await urls.take(9))) == [b"a", b"b", b"c"]


async def test_highest_score_of_a_sorted_set_comes_first(urls: StartUrls, client: Any) -> None:
    await client.zadd(urls.key, {"low": -1.5, "high": 7, "middle": 2})
    batch = await urls.take(2)
    assert batch
    assert [(message.data, message.score) for message in batch.messages] == [
        (b"high", 7.0),
        (b"middle", 2.0),
    ]


async def test_text_is_no_place_for_messages(urls: StartUrls, client: Any) -> None:
    await client.set(urls.key, "a")
    with pytest.raises(ResponseError, match="not in a string"):
        await urls.take(1)


async def test_settled_batch_leaves_nothing(urls: StartUrls, client: Any, namespace: str) -> None:
    await client.rpush(urls.key, *"ab")
    batch = await urls.take(2)
    assert batch
    await urls.settle(batch)
    assert await client.keys(f"{namespace}*") == []
    assert await urls.take_over() is None


@pytest.mark.parametrize("kind", ["list", "set", "zset"])
async def test_messages_are_put_back_and_aside(urls: StartUrls, client: Any, kind: str) -> None:
    add = {
        "list": lambda: client.rpush(urls.key, *"abc"),
        "set": lambda: client.sadd(urls.key, *"abc"),
        "zset": lambda: client.zadd(urls.key, {"a": 3, "b": 2, "c": 1}),
    }
    await add[kind]()
    batch = await urls.take(3)
    assert batch
    aside, *back = batch.messages
    await urls.settle(batch, bad=[aside], back=back)
    assert await client.lrange(f"{urls.key}:bad", 0, -1) == [aside.data]
    again = await urls.take(3)
    assert sorted(_data(again)) == sorted(message.data for message in back)
    if kind != "set":
        assert _data(again) == [b"b", b"c"]


async def test_batch_of_a_dead_worker_is_taken_over_once(urls: StartUrls, client: Any) -> None:
    await client.rpush(urls.key, *(f"{number}" for number in range(12)))
    left = await urls.take(12)
    assert left
    assert await urls.take_over() is None, "its worker may be alive"
    taken = await wait_until_async(urls.take_over)
    assert taken == left, "messages keep their ids, so that nothing is queued twice"
    assert await urls.take_over() is None
    await urls.settle(taken)
    assert await urls.take_over() is None


def _data(batch: Batch | None) -> list[bytes]:
    return [message.data for message in batch.messages] if batch else []
