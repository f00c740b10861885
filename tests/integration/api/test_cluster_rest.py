"""Scrapy Cluster's documented requests get its documented answers: fields and meaning."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from skitter.access import Role
from skitter.api import cluster_rest
from skitter.compat.scrapy_cluster import Desk
from skitter.errors import ServerUnavailable
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from skitter.client import Client
    from tests.integration.api.place import Place

CRAWL = {
    "url": "http://example.com",
    "appid": "testapp",
    "crawlid": "abc123",
    "maxdepth": 1,
    "priority": 90,
    "allowed_domains": ["example.com"],
    "expires": 1893456000,
}
ACTION = {"appid": "testapp", "spiderid": "link", "crawlid": "abc123"}
SUCCESS = {"status": "SUCCESS", "data": None, "error": None}


@pytest.fixture
async def client(place: Place) -> Client:
    return await place.client(Role.OPERATOR)


async def feed(client: Client, *parts: dict[str, Any], **fields: Any) -> Any:
    """The data of a message's answer."""
    message: dict[str, Any] = {}
    for part in parts:
        message |= part
    answer = await client.feed(message | fields)
    assert answer["status"] == "SUCCESS", answer
    assert answer["error"] is None
    return answer["data"]


def is_now(server_time: Any) -> bool:
    return isinstance(server_time, int) and abs(server_time - time.time()) < 60


async def test_the_index_says_how_the_server_is(place: Place) -> None:
    async with aiohttp.ClientSession(place.url) as session:
        for method in ("GET", "POST"):
            async with session.request(method, "/") as response:
                told = await response.json()
            uptime, name = told.pop("uptime_sec"), told.pop("my_id")
            assert told == {
                "kafka_connected": True, "redis_connected": True, "node_health": "GREEN"
            }  # fmt: skip
            assert isinstance(uptime, int)
            assert isinstance(name, str)


async def test_a_crawl_request_makes_a_job(client: Client, place: Place) -> None:
    attrs = {"any": {"thing": [1, None]}}
    assert await client.feed(CRAWL | {"attrs": attrs, "domain_max_pages": 50}) == SUCCESS
    job = await place.services.jobs.show("link.testapp.abc123")
    assert (job.spider, job.priority, job.attrs) == ("link", 90, attrs)
    assert job.submission
    assert (job.submission.max_depth, job.submission.max_per_host) == (1, 50)
    assert job.submission.scope.allowed_domains == ("example.com",)
    assert job.expires_at
    assert job.expires_at.timestamp() == pytest.approx(1893456000, abs=2)
    assert (job.labels["appid"], job.labels["crawlid"]) == ("testapp", "abc123")
    upcoming = await client.upcoming(job.id)
    assert [request["url"] for request in upcoming] == ["http://example.com/"]


async def test_a_second_request_of_a_crawl_adds_to_its_job(client: Client, place: Place) -> None:
    await feed(client, CRAWL)
    more = {"url": "example.com/more", "priority": 95, "useragent": "me", "cookie": "a=b"}
    await feed(client, CRAWL, more)
    assert await feed(client, CRAWL, more) is None  # known, and that is no error
    page = await place.services.jobs.list(limit=10)
    assert [job.id for job in page.jobs] == ["link.testapp.abc123"]
    found = {request.url: request for request in await place.services.jobs.peek(page.jobs[0].id)}
    assert set(found) == {"http://example.com/", "http://example.com/more"}
    assert found["http://example.com/more"].priority == 5
    assert found["http://example.com/more"].headers == {"User-Agent": "me", "Cookie": "a=b"}


async def test_a_crawl_id_whose_job_has_ended_begins_anew(client: Client) -> None:
    for number in ("", ":2", ":3"):
        await feed(client, CRAWL)
        await client.job(f"link.testapp.abc123{number}")
        stopped = await feed(client, ACTION, action="stop", uuid="u")
        assert stopped["total_purged"] == 1


async def test_many_requests_of_one_crawl_at_once_make_one_job(client: Client) -> None:
    urls = [f"http://example.com/{number}" for number in range(20)]
    await asyncio.gather(*(feed(client, CRAWL, url=url) for url in urls))
    assert len((await client.jobs())["jobs"]) == 1
    info = await feed(client, ACTION, action="info", uuid="u")
    assert info["total_pending"] == 20


async def test_info_of_a_crawl(client: Client) -> None:
    await feed(client, CRAWL, allowed_domains=None)
    await feed(client, CRAWL, url="http://www.example.com/1", priority=80)
    await feed(client, CRAWL, url="http://other.example.org/", priority=10)
    data = await feed(client, ACTION, action="info", uuid="u1")
    assert is_now(data.pop("server_time"))
    assert data == {
        "uuid": "u1",
        "appid": "testapp",
        "spiderid": "link",
        "crawlid": "abc123",
        "total_pending": 3,
        "total_domains": 2,
        "domains": {
            "example.com": {"total": 2, "high_priority": 90, "low_priority": 80},
            "example.org": {"total": 1, "high_priority": 10, "low_priority": 10},
        },
        "expires": "1893456000",
    }


async def test_info_of_an_app(client: Client) -> None:
    await feed(client, CRAWL, CRAWL | {"expires": 0})
    await feed(client, CRAWL, crawlid="ist234")
    await feed(client, CRAWL, appid="other")
    app = {"appid": "testapp", "spiderid": "link", "action": "info", "uuid": "u1"}
    data = await feed(client, app)
    assert is_now(data.pop("server_time"))
    domains = {"example.com": {"total": 1, "high_priority": 90, "low_priority": 90}}
    crawl = {"total": 1, "distinct_domains": 1, "domains": domains}
    assert data == {
        "uuid": "u1",
        "appid": "testapp",
        "spiderid": "link",
        "total_pending": 2,
        "total_domains": 1,
        "total_crawlids": 2,
        "crawlids": {"abc123": crawl, "ist234": crawl | {"expires": "1893456000"}},
    }


@pytest.mark.parametrize(
    ("action", "word", "total"),
    [("stop", "stop", "total_purged"), ("expire", "expired", "total_expired")],
)
async def test_a_crawl_is_ended(
    client: Client, place: Place, action: str, word: str, total: str
) -> None:
    await feed(client, CRAWL)
    await feed(client, CRAWL, url="http://example.com/2")
    data = await feed(client, ACTION, action=action, uuid="u2")
    assert is_now(data.pop("server_time"))
    assert data == ACTION | {"action": word, "uuid": "u2", total: 2}
    outcome = {"stop": "cancelled", "expire": "expired"}[action]
    assert (await place.services.jobs.show("link.testapp.abc123")).outcome == outcome
    again = await feed(client, ACTION, action=action, uuid="u3")
    assert again[total] == 0


async def test_queue_stats(client: Client) -> None:
    await feed(client, CRAWL)
    data = await feed(client, {"uuid": "u3", "appid": "testapp", "stats": "queue"})
    assert is_now(data.pop("server_time"))
    assert data == {
        "stats": "queue",
        "appid": "testapp",
        "uuid": "u3",
        "queues": {
            "queue_link": {
                "spider_backlog": 1,
                "num_domains": 1,
                "domains": [{"domain": "example.com", "backlog": 1}],
            },
            "total_backlog": 1,
        },
    }


async def test_all_stats_hold_those_of_the_parts(client: Client) -> None:
    await feed(client, CRAWL)
    await client.feed({"nothing": "good"})
    ask = {"uuid": "u", "appid": "testapp"}
    everything = await feed(client, ask)
    assert everything["stats"] == "all"
    fed = everything["kafka-monitor"]
    assert fed["plugins"]["ScraperHandler"] == dict.fromkeys(fed["total"], 1)
    assert set(fed["total"]) == {
        "900", "3600", "21600", "43200", "86400", "604800", "lifetime"
    }  # fmt: skip
    assert fed["fail"]["lifetime"] == 1
    assert set(everything["crawler"]) == {"spiders", "machines", "queues"}
    assert set(everything["rest"]) == {"nodes"}
    for which, fields in {
        "kafka-monitor": {"nodes", "plugins", "total", "fail"},
        "redis-monitor": {"nodes", "plugins", "total"},
        "crawler": {"spiders", "machines", "queues"},
        "spider": {"spiders"},
        "machine": {"machines"},
        "rest": {"nodes"},
    }.items():
        data = await feed(client, ask, stats=which)
        assert set(data) == fields | {"stats", "appid", "uuid", "server_time"}, which
    spiders = (await feed(client, ask, stats="spider"))["spiders"]
    assert (spiders["unique_spider_count"], spiders["total_spider_count"]) == (0, 0)


async def test_a_domains_pace_and_ban(client: Client, place: Place) -> None:
    hosts = place.services.frontier.hosts
    ask = {"uuid": "u4", "appid": "testapp", "domain": "example.com"}
    pace = {"action": "domain-update", "hits": 60, "window": 60, "scale": 0.9}
    data = await feed(client, ask, pace)
    assert is_now(data.pop("server_time"))
    assert data == ask | {"action": "domain-update"}
    assert (await hosts.state("example.com")).delay_ms == 1111
    await feed(client, ask, action="blacklist-update")
    assert (await hosts.state("example.com")).blocked
    await feed(client, ask, action="domain-remove")
    state = await hosts.state("example.com")
    assert (state.delay_ms, state.blocked) == (None, True)
    await feed(client, ask, action="blacklist-remove")
    assert not (await hosts.state("example.com")).blocked


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({}, "neither url"),
        ([], "no JSON object"),
        ({"url": "http://example.com", "appid": "a"}, "crawlid: Field required"),
        (CRAWL | {"url": "http://"}, "names no host"),
        (CRAWL | {"maxdepth": "deep"}, "maxdepth"),
        (CRAWL | {"allow_regex": ["("]}, "not a regular expression"),
        (CRAWL | {"expires": 1}, "has passed"),
        (CRAWL | {"url": "http://elsewhere.org"}, "out of the crawl's own scope"),
        (ACTION | {"action": "stop", "uuid": "u", "crawlid": None}, "needs a crawlid"),
        (ACTION | {"action": "dance", "uuid": "u"}, "action is none of"),
        (ACTION | {"action": "info"}, "uuid"),
        ({"uuid": "u", "appid": "a", "stats": "weather"}, "stats"),
        ({"uuid": "u", "appid": "a", "action": "domain-update", "domain": "e.com"}, "hits"),
    ],
)
async def test_a_bad_request_is_refused_with_its_reason(
    client: Client, message: Any, words: str
) -> None:
    answer = await client.feed(message)
    assert (answer["status"], answer["data"]) == ("FAILURE", None)
    assert answer["error"]["message"] == "JSON did not validate against schema."
    assert words in answer["error"]["cause"]
    assert (await client.jobs())["jobs"] == []


async def test_null_extra_fields_and_wider_limits_are_taken(client: Client) -> None:
    wide = {"useragent": None, "attrs": None, "my_field": 1, "maxdepth": 100, "priority": 5000}
    assert await client.feed(CRAWL | wide | {"appid": "a", "crawlid": "ü" * 100}) == SUCCESS
    info = {"action": "info", "uuid": "u", "appid": "a", "spiderid": "link", "crawlid": "ü" * 100}
    assert (await feed(client, info))["total_pending"] == 1


async def test_what_is_no_json_is_told(place: Place) -> None:
    headers = {"Authorization": f"Bearer {await place.key(Role.OPERATOR)}"}
    async with aiohttp.ClientSession(place.url, headers=headers) as session:
        for path in ("/feed", "/poll"):
            async with session.post(path, data=b"{") as response:
                assert response.status == 400
                assert (await response.json())["error"] == {
                    "message": "The payload must be valid JSON."
                }


async def test_a_slow_answer_is_polled_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    client = await place.client(Role.OPERATOR)
    released = asyncio.Event()
    handle = Desk.handle

    async def slow(desk: Desk, message: Any, *, project: str) -> dict[str, Any] | None:
        await released.wait()
        return await handle(desk, message, project=project)

    monkeypatch.setattr(Desk, "handle", slow)
    monkeypatch.setattr(cluster_rest, "WAIT_S", 0.1)
    ask = {"uuid": "slow1", "appid": "testapp", "stats": "queue"}
    assert await client.feed(ask) == SUCCESS | {"data": {"poll_id": "slow1"}}
    missing = {"message": "Could not find matching poll_id"}
    assert (await client.poll("slow1"))["error"] == missing
    released.set()

    async def polled() -> dict[str, Any] | None:
        found = await client.poll("slow1")
        return found if found["status"] == "SUCCESS" else None

    answer = await wait_until_async(polled, what="the answer")
    assert (answer["status"], answer["data"]["uuid"]) == ("SUCCESS", "slow1")
    assert "queues" in answer["data"]
    assert (await client.poll("slow1"))["error"] == missing


async def test_roles_and_projects_hold_here_too(place: Place) -> None:
    viewer = await place.client(Role.VIEWER)
    refused = await viewer.feed(CRAWL)
    assert refused["status"] == "FAILURE"
    assert "needs operator" in refused["error"]["message"]
    assert (await viewer.feed(ACTION | {"action": "info", "uuid": "u"}))["status"] == "SUCCESS"
    shop = await place.client(Role.OPERATOR, project="shop")
    assert (await shop.feed(CRAWL))["status"] == "SUCCESS"
    assert (await shop.feed({"uuid": "u", "appid": "a"}))["status"] == "FAILURE"
    everywhere = await place.client(Role.OPERATOR)
    assert (await feed(everywhere, ACTION, action="info", uuid="u"))["total_pending"] == 0
    assert (await feed(shop, ACTION, action="info", uuid="u"))["total_pending"] == 1


async def test_a_server_that_is_away_is_a_failure_not_a_crash(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object, **__: object) -> None:
        raise ServerUnavailable(server="redis://h", waited_s=30.0, reason="refused")

    monkeypatch.setattr(Desk, "handle", away)
    client = await place.client(Role.OPERATOR)
    answer = await client.feed(CRAWL)
    assert answer["status"] == "FAILURE"
    assert "has been away" in answer["error"]["message"]
