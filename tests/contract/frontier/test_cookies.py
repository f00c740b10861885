"""Cookie jars: by job, jar and registered domain, the same on every worker."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from skitter.frontier import Cookie

if TYPE_CHECKING:
    from tests.contract.frontier.crawl import Crawl


async def test_a_login_holds_on_every_worker_and_host_of_the_domain(crawl: Crawl) -> None:
    await crawl.job()
    other = await crawl.worker("w2")
    session = Cookie("session", "abc", ".shop.co.uk", path="/", secure=True, host_only=False)
    await crawl.frontier.cookies.put("j", "www.shop.co.uk", [session])
    assert await other.frontier.cookies.get("j", "api.shop.co.uk") == [session]
    assert await other.frontier.cookies.get("j", "other.co.uk") == []


async def test_jars_and_jobs_are_apart(crawl: Crawl) -> None:
    await crawl.job("one")
    await crawl.job("two")
    cookies = crawl.frontier.cookies
    await cookies.put("one", "a.com", [Cookie("n", "1", "a.com")], jar="alice")
    await cookies.put("one", "a.com", [Cookie("n", "2", "a.com")], jar="bob")
    assert [c.value for c in await cookies.get("one", "a.com", jar="alice")] == ["1"]
    assert [c.value for c in await cookies.get("one", "a.com", jar="bob")] == ["2"]
    assert await cookies.get("one", "a.com") == []
    assert await cookies.get("two", "a.com", jar="alice") == []


async def test_a_cookie_is_replaced_and_taken_away_by_name_domain_and_path(crawl: Crawl) -> None:
    await crawl.job()
    cookies = crawl.frontier.cookies
    await cookies.put(
        "j",
        "a.com",
        [
            Cookie("n", "1", "a.com"),
            Cookie("n", "2", "a.com", path="/x"),
            Cookie("m", "3", "a.com"),
        ],
    )
    gone = [Cookie("m", "3", "a.com")]
    await cookies.put("j", "a.com", [Cookie("n", "4", "a.com")], gone=gone)
    found = {(c.name, c.path): c.value for c in await cookies.get("j", "a.com")}
    assert found == {("n", "/"): "4", ("n", "/x"): "2"}


async def test_a_cookie_without_a_value_is_a_cookie(crawl: Crawl) -> None:
    await crawl.job()
    cookies = [Cookie("empty", "", "a.com"), Cookie("bare", None, "a.com")]
    await crawl.frontier.cookies.put("j", "a.com", cookies)
    assert sorted(await crawl.frontier.cookies.get("j", "a.com"), key=lambda c: c.name) == [
        Cookie("bare", None, "a.com"),
        Cookie("empty", "", "a.com"),
    ]


async def test_workers_that_learn_different_cookies_keep_both(crawl: Crawl) -> None:
    await crawl.job()
    workers = [crawl, *[await crawl.worker(f"w{n}") for n in range(2, 6)]]
    await asyncio.gather(
        *(
            worker.frontier.cookies.put("j", "a.com", [Cookie(f"n{n}", "v", "a.com")])
            for n, worker in enumerate(workers)
        )
    )
    assert len(await crawl.frontier.cookies.get("j", "a.com")) == 5
