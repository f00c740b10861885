"""Jobs over the API: everything that the service can do, and what it refuses, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from skitter.access import Role
from skitter.access_errors import ClientError
from tests.integration.api.place import SEED

if TYPE_CHECKING:
    from skitter.client import Client
    from tests.integration.api.place import Place


@pytest.fixture
async def client(place: Place) -> Client:
    return await place.client(Role.OPERATOR)


def job(**fields: Any) -> dict[str, Any]:
    return {"spider": "link", "seeds": [SEED]} | fields


async def test_a_job_is_submitted_shown_changed_and_deleted(client: Client) -> None:
    made = await client.submit(job(id="books", labels={"team": "shop"}, max_pages=5))
    assert (made["id"], made["state"], made["figures"]["accepted"]) == ("books", "queued", 1)
    assert made["submission"]["max_pages"] == 5
    assert (await client.pause("books"))["state"] == "paused"
    assert (await client.resume("books"))["state"] == "queued"
    assert (await client.reprioritise("books", 7))["priority"] == 7
    assert [request["url"] for request in await client.upcoming("books")] == [SEED]
    assert await client.errors("books") == {}
    clone = await client.clone("books", max_pages=9)
    assert clone["submission"]["max_pages"] == 9
    with pytest.raises(ClientError, match=r"409.*has not ended"):
        await client.delete("books")
    assert (await client.stop("books"))["outcome"] == "cancelled"


async def test_jobs_are_listed_by_filters_page_by_page(client: Client) -> None:
    for number in range(5):
        await client.submit(job(id=f"j{number}", labels={"n": str(number % 2)}))
    first = await client.jobs(limit=3)
    rest = await client.jobs(limit=3, after=first["next"])
    assert [each["id"] for each in first["jobs"] + rest["jobs"]] == ["j4", "j3", "j2", "j1", "j0"]
    assert rest["next"] is None
    odd = await client.jobs(label="n=1")
    assert [each["id"] for each in odd["jobs"]] == ["j3", "j1"]
    counted = await client.ask("GET", "/api/v1/jobs/count", params={"label": "n=1"})
    assert counted == {"count": 2, "at_least": False}
    with pytest.raises(ClientError, match="422"):
        await client.jobs(after="nowhere")


async def test_what_is_wrong_is_told_as_a_problem(place: Place) -> None:
    key = await place.key(Role.OPERATOR)
    headers = {"Authorization": f"Bearer {key}"}
    async with aiohttp.ClientSession(place.url, headers=headers) as session:
        async with session.get("/api/v1/jobs/nothing") as response:
            problem = await response.json()
            assert response.status == 404
            assert response.content_type == "application/problem+json"
            assert problem["type"] == "urn:skitter:unknown-job"
            assert problem["detail"] == "There is no job nothing."
            assert problem["request_id"] == response.headers["X-Request-ID"]
        async with session.post("/api/v1/jobs", json={"spyder": "x"}) as response:
            problem = await response.json()
            assert response.status == 422
            assert {each["where"] for each in problem["errors"]} == {"body.spider", "body.spyder"}
        async with session.get("/api/v1/nowhere") as response:
            assert (response.status, response.content_type) == (404, "application/problem+json")
        async with session.put("/api/v1/jobs") as response:
            assert (response.status, response.content_type) == (405, "application/problem+json")
        async with session.post("/api/v1/jobs", data=b"{", headers=JSON) as response:
            assert (response.status, response.content_type) == (422, "application/problem+json")


JSON = {"Content-Type": "application/json"}


async def test_a_unique_job_and_a_taken_id_are_refused(client: Client) -> None:
    await client.submit(job(id="one", unique=True))
    with pytest.raises(ClientError, match=r"409.*such a job already: one"):
        await client.submit(job(id="two", unique=True))
    with pytest.raises(ClientError, match="409"):
        await client.submit(job(id="one"))


async def test_an_operator_names_no_files_of_the_servers(place: Place, client: Client) -> None:
    admin = await place.client(Role.ADMIN)
    elsewhere = job(sinks=["jsonl:/tmp/other"])
    with pytest.raises(ClientError, match="403"):
        await client.submit(elsewhere)
    export = {"kind": "export", "options": {"to": "/etc/passwd", "format": "csv"}}
    with pytest.raises(ClientError, match="403"):
        await client.submit(job(on_end=[export]))
    nested = {"kind": "job", "options": {"spider": "link", "on_end": [export]}}
    with pytest.raises(ClientError, match="403"):
        await client.submit(job(on_end=[nested]))
    assert (await admin.submit(elsewhere))["id"]


async def test_passwords_in_a_submission_are_masked(place: Place) -> None:
    admin = await place.client(Role.ADMIN)
    hook = {"kind": "webhook", "options": {"url": "https://u:hunter2@h/", "secret": "hunter2"}}
    made = await admin.submit(job(id="hooked", on_end=[hook]))
    assert "hunter2" not in str(made)
    assert "hunter2" not in str(await admin.job("hooked"))
