"""Memory: buckets of seen URLs keep the server's compact encoding at every size of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skitter.frontier import Request

if TYPE_CHECKING:
    from tests.contract.frontier.crawl import Crawl

INTSET_MOST = 512  # the servers' default of set-max-intset-entries


async def add_pages(crawl: Crawl, count: int, *, batch: int, first: int = 0) -> None:
    for start in range(first, first + count, batch):
        stop = min(start + batch, first + count)
        requests = [Request("j", f"https://a.com/p/{n}") for n in range(start, stop)]
        assert (await crawl.frontier.add(requests)).new == stop - start


async def encodings(crawl: Crawl) -> set[bytes]:
    no = (await crawl.frontier.jobs.record("j")).no
    scope = await crawl.frontier.shards.fields(crawl.key("a.com", f"d:{no}"))
    buckets = int(scope["size"]) + int(scope["next"])
    found = set()
    for bucket in range(buckets):
        key = crawl.key("a.com", f"d:{no}:{bucket}")
        if size := await crawl.raw("SCARD", key):
            assert size <= INTSET_MOST
            found.add(await crawl.raw("OBJECT", "ENCODING", key))
    return found


@pytest.mark.parametrize("batch", [1_000, 37])
async def test_buckets_stay_compact_as_a_job_grows(crawl: Crawl, batch: int) -> None:
    await crawl.job()
    for first, last in ((0, 1), (1, 100), (100, 1_000), (1_000, 3_000)):
        await add_pages(crawl, last - first, batch=batch, first=first)
        assert await encodings(crawl) == {b"intset"}


async def test_a_large_batch_on_a_small_job_stays_compact(crawl: Crawl) -> None:
    """Buckets are split before a batch goes in: one that grew past the bound never shrinks back."""
    await crawl.job()
    await add_pages(crawl, 189, batch=189)
    await add_pages(crawl, 500, batch=500, first=189)
    assert await encodings(crawl) == {b"intset"}


@pytest.mark.parametrize("backend", ["valkey"], indirect=True)
async def test_a_hundred_thousand_urls_stay_compact(crawl: Crawl) -> None:
    await crawl.job()
    await add_pages(crawl, 100_000, batch=10_000)
    assert await encodings(crawl) == {b"intset"}


async def test_known_urls_do_not_make_buckets(crawl: Crawl) -> None:
    await crawl.job()
    urls = [f"https://a.com/{n}" for n in range(400)]
    await crawl.add(*urls)
    no = (await crawl.frontier.jobs.record("j")).no
    key = crawl.key("a.com", f"d:{no}")
    await crawl.add(*urls)
    once = await crawl.frontier.shards.fields(key)
    for _ in range(5):
        assert (await crawl.add(*urls)).known == 400
    assert await crawl.frontier.shards.fields(key) == once


async def test_a_queue_is_one_compact_list(crawl: Crawl) -> None:
    await crawl.job()
    await add_pages(crawl, 50, batch=50)
    no = (await crawl.frontier.jobs.record("j")).no
    key = crawl.key("a.com", f"q:a.com:{no}:0")
    assert await crawl.raw("OBJECT", "ENCODING", key) in (b"listpack", b"quicklist")
    entry = (await crawl.raw("LRANGE", key, 0, 0))[0]
    assert len(entry) <= len("/p/0") + 4  # two counts and msgpack's two marks
