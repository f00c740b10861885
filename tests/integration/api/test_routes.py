"""Items, hosts, dead letters, schedules, alerts, workers, status and metrics over the API."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import aiohttp
import pyarrow.parquet as pq
import pytest
from openpyxl import load_workbook

from skitter.access import Role
from skitter.access_errors import ClientError
from skitter.frontier import HostPolicy, Settlement
from skitter.services import open_services
from skitter.sinks import Item, open_sink
from tests.integration.api.place import SEED, Place, serving, settings_of
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from pathlib import Path

    from skitter.client import Client

MANY = 1_234


async def fill(place: Place, count: int, *, job: str = "books") -> None:
    sink = open_sink(place.services.settings.items.sink)
    await sink.open()
    try:
        items = [
            Item(
                id=f"{job}-{number}", job=job, spider="link", kind="Book", worker="w",
                url=f"{SEED}{number}", data={"title": f"ü {number}", "number": number},
            )
            for number in range(count)
        ]  # fmt: skip
        for first in range(0, count, 200):
            await sink.put(items[first : first + 200])
    finally:
        await sink.close()


async def bytes_of(client: Client, form: str, **filters: Any) -> bytes:
    return b"".join([chunk async for chunk in client.export(form, **filters)])


async def test_items_are_paged_and_filtered(place: Place) -> None:
    client = await place.client(Role.OPERATOR)
    assert [item async for item in client.items()] == []
    await fill(place, MANY)
    await fill(place, 3, job="other")
    await client.submit({"spider": "link", "id": "books"})
    found = [item async for item in client.items(job="books", limit=100)]
    assert [item["data"]["number"] for item in found] == list(range(MANY))
    assert found[0]["url"] == f"{SEED}0"
    with pytest.raises(ClientError, match="422"):
        await client.ask("GET", "/api/v1/items", params={"after": "nowhere"})
    shop = await place.client(Role.OPERATOR, project="shop")
    with pytest.raises(ClientError, match="404"):
        await client.ask("GET", "/api/v1/items", params={"job": "nothing"})
    with pytest.raises(ClientError, match="403"):
        await bytes_of(shop, "jsonl")
    with pytest.raises(ClientError, match="404"):
        await bytes_of(shop, "jsonl", job="books")


async def test_items_are_exported_in_every_form(place: Place) -> None:
    client = await place.client(Role.VIEWER)
    await fill(place, MANY)
    lines = (await bytes_of(client, "jsonl", fields="number,_url")).splitlines()
    assert [json.loads(line) for line in lines][-1] == {
        "number": MANY - 1,
        "_url": f"{SEED}{MANY - 1}",
    }
    assert len(json.loads(await bytes_of(client, "json", bare=True))) == MANY
    rows = list(csv.DictReader(io.StringIO((await bytes_of(client, "csv")).decode())))
    assert (len(rows), rows[1]["title"]) == (MANY, "ü 1")
    table = pq.read_table(io.BytesIO(await bytes_of(client, "parquet", bare=True)))
    assert (table.num_rows, table.column_names) == (MANY, ["title", "number"])
    sheet = load_workbook(io.BytesIO(await bytes_of(client, "xlsx", bare=True))).active
    assert sheet is not None
    assert sheet.max_row == MANY + 1


async def test_exports_are_bounded_and_end_when_nobody_reads(
    server_url: str, namespace: str, tmp_path: Path
) -> None:
    settings = settings_of(server_url, namespace, tmp_path, max_exports=1)
    async with open_services(settings) as services, serving(services) as place:
        client = await place.client(Role.VIEWER)
        await fill(place, 40_000)
        export = client.export("jsonl")
        await anext(export)  # begun, and not read on
        with pytest.raises(ClientError, match=r"503.*1 exports"):
            await bytes_of(client, "jsonl")
        await export.aclose()

        async def again() -> bool:
            try:
                return len((await bytes_of(client, "jsonl")).splitlines()) == 40_000
            except ClientError:
                return False

        await wait_until_async(again, timeout_s=30, what="room for an export")


async def test_hosts_are_ranked_and_their_policies_set(place: Place) -> None:
    client = await place.client(Role.OPERATOR)
    seeds = [SEED, f"{SEED}2", f"{SEED}3", "https://a.example/1", "https://a.example/2"]
    await client.submit({"spider": "link", "seeds": seeds})
    ranked = await client.ask("GET", "/api/v1/hosts")
    assert [(host["host"], host["queued"]) for host in ranked["hosts"]] == [
        ("books.example", 3),
        ("a.example", 2),
    ]
    policy = "/api/v1/hosts/books.example/policy"
    assert (await client.ask("PUT", policy, body={"blocked": True}))["blocked"]
    set_to = await client.ask("PUT", policy, body={"blocked": False, "delay_ms": 2500})
    assert (set_to["blocked"], set_to["delay_ms"]) == (False, 2500)
    assert (await client.ask("DELETE", policy))["delay_ms"] is None
    viewer = await place.client(Role.VIEWER)
    assert (await viewer.ask("GET", "/api/v1/hosts/A.Example"))["queued"] == 2
    with pytest.raises(ClientError, match="403"):
        await viewer.ask("PUT", policy, body={"blocked": True})


@pytest.fixture
async def buried(place: Place) -> list[str]:
    """Three dead letters of a live job."""
    services, frontier = place.services, place.services.frontier
    client = await place.client(Role.OPERATOR)
    seeds = [f"{SEED}{number}" for number in range(3)]
    await client.submit({"spider": "link", "id": "books", "seeds": seeds, "delay_s": 0})
    await frontier.hosts.set_policy("books.example", HostPolicy(delay_ms=0, robots_ms=60_000))
    lane = (await frontier.jobs.record("books")).job.lane
    leased = await frontier.lease([lane], count=3)
    settled = [
        Settlement(lease, outcome="bury", reason="timeout", error="took too long")
        for lease in leased.leases
    ]
    assert await frontier.settle(settled) == [True] * 3
    return [letter.id for letter in await services.frontier.dead.find(limit=10)]


async def test_dead_letters_are_shown_replayed_and_discarded(
    place: Place, buried: list[str]
) -> None:
    client = await place.client(Role.OPERATOR)
    path = "/api/v1/dead-letters"
    listed = (await client.ask("GET", path, params={"job": "books"}))["letters"]
    assert [letter["id"] for letter in listed] == buried
    assert listed[0]["reason"] == "timeout"
    first = await client.ask("GET", path, params={"limit": 2})
    rest = await client.ask("GET", path, params={"limit": 2, "after": first["next"]})
    assert [one["id"] for page in (first, rest) for one in page["letters"]] == buried
    assert rest["next"] is None
    with pytest.raises(ClientError, match="422"):
        await client.ask("GET", path, params={"after": "nowhere"})
    groups = (await client.ask("GET", f"{path}/groups"))["groups"]
    assert groups == [{"host": "books.example", "reason": "timeout", "count": 3}]
    shown = await client.ask("GET", f"{path}/{buried[0]}")
    assert shown["request"]["url"].startswith(SEED)
    dry = await client.ask("POST", f"{path}/replay", body={"job": "books", "dry_run": True})
    assert dry == {"found": 3, "done": 0, "gone": 0, "dry_run": True}
    with pytest.raises(ClientError, match=r"422.*say which"):
        await client.ask("POST", f"{path}/discard", body={})
    edited = {"url": f"{SEED}edited", "priority": 5}
    replayed = await client.ask("POST", f"{path}/{buried[0]}/replay", body=edited)
    assert replayed["done"] == 1
    assert f"{SEED}edited" in {each["url"] for each in await client.upcoming("books")}
    elsewhere = {"url": "https://other.example/"}
    with pytest.raises(ClientError, match=r"422.*stays with its host"):
        await client.ask("POST", f"{path}/{buried[1]}/replay", body=elsewhere)
    one = await client.ask("POST", f"{path}/discard", body={"ids": [buried[1]]})
    assert one["done"] == 1
    assert (await client.ask("POST", f"{path}/replay", body={"job": "books"}))["done"] == 1
    assert await client.ask("GET", path) == {"letters": [], "next": None}
    with pytest.raises(ClientError, match="404"):
        await client.ask("GET", f"{path}/{buried[0]}")


async def test_dead_letters_of_another_project_are_not_there(
    place: Place, buried: list[str]
) -> None:
    shop = await place.client(Role.OPERATOR, project="shop")
    path = "/api/v1/dead-letters"
    with pytest.raises(ClientError, match="404"):
        await shop.ask("GET", f"{path}/{buried[0]}")
    with pytest.raises(ClientError, match="404"):
        await shop.ask("POST", f"{path}/discard", body={"ids": buried})
    with pytest.raises(ClientError, match="403"):
        await shop.ask("POST", f"{path}/discard", body={"everything": True})


async def test_schedules_are_added_changed_run_and_deleted(place: Place) -> None:
    client = await place.client(Role.OPERATOR)
    path = "/api/v1/schedules"
    daily = {
        "name": "daily", "cron": "0 6 * * *", "timezone": "Africa/Tunis",
        "job": {"spider": "link", "seeds": [SEED]},
    }  # fmt: skip
    made = await client.ask("POST", path, body=daily)
    assert len(made["next_ticks"]) == 5
    assert made["next_ticks"][0].endswith("05:00:00Z")
    with pytest.raises(ClientError, match="409"):
        await client.ask("POST", path, body=daily)
    with pytest.raises(ClientError, match="422"):
        await client.ask("POST", path, body=daily | {"name": "bad", "cron": "often"})
    changed = await client.ask("PATCH", f"{path}/daily", body={"cron": "0 7 * * *"})
    assert changed["next_ticks"][0].endswith("06:00:00Z")
    assert (await client.ask("POST", f"{path}/daily/pause"))["paused"]
    assert not (await client.ask("POST", f"{path}/daily/resume"))["paused"]
    tick = await client.ask("POST", f"{path}/daily/run")
    assert (await client.job(tick["job"]))["spider"] == "link"
    history = (await client.ask("GET", f"{path}/daily/history"))["ticks"]
    assert [(each["job"], each["manual"]) for each in history] == [(tick["job"], True)]
    shop = await place.client(Role.OPERATOR, project="shop")
    assert (await shop.ask("GET", path))["schedules"] == []
    with pytest.raises(ClientError, match="404"):
        await shop.ask("DELETE", f"{path}/daily")
    await client.ask("DELETE", f"{path}/daily")
    assert (await client.ask("GET", path))["schedules"] == []


async def test_status_workers_alerts_and_settings(place: Place) -> None:
    admin = await place.client()
    await admin.submit({"spider": "link", "seeds": [SEED]})
    said = {"state": "running", "pages_per_s": 12.5, "host": "h"}
    await place.services.frontier.workers.beat("w1", said)
    status = await admin.ask("GET", "/api/v1/status")
    assert (status["live_jobs"], status["workers"], status["pages_per_s"]) == (1, 1, 12.5)
    workers = (await admin.ask("GET", "/api/v1/workers"))["workers"]
    assert [worker["name"] for worker in workers] == ["w1"]
    assert (await admin.ask("GET", "/api/v1/alerts"))["alerts"] == []
    assert (await admin.ask("GET", "/api/v1/alerts/rules"))["rules"]
    assert (await admin.ask("GET", "/api/v1/alerts/events"))["events"] == []
    settings = (await admin.ask("GET", "/api/v1/settings"))["settings"]
    assert settings["api"]["port"] == 0


async def test_metrics_have_the_queues_depth_by_spider(place: Place) -> None:
    client = await place.client(Role.OPERATOR)
    await client.submit({"spider": "link", "seeds": [SEED, f"{SEED}2"]})
    headers = {"Authorization": f"Bearer {await place.key(Role.VIEWER)}"}
    async with (
        aiohttp.ClientSession(place.url, headers=headers) as session,
        session.get("/metrics") as response,
    ):
        text = await response.text()
    assert 'skitter_queue_depth{spider="link"} 2.0' in text
