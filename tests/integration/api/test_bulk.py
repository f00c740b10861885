"""Many at once: a hundred thousand URLs in one request with flat memory; repeats with one key."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import psutil
import pytest

from skitter.access import Role
from skitter.access_errors import ClientError
from skitter.client import Client
from tests.integration.api.place import SEED, settings_of
from tests.wait import wait_until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from tests.integration.api.place import Place

SKITTER = Path(sys.executable).parent / "skitter"
MANY = 100_000
# What 100,000 of these lines take as text alone is some 8 MB, as Python's strings 14 MB.
MOST_GROWTH = 12 * 1024**2


async def seeds(count: int, *, hosts: int = 200) -> AsyncIterator[str]:
    for number in range(count):
        yield f"https://h{number % hosts}.example/a/page/with/a/path/of/some/length/{number}"


@pytest.fixture
def served(server_url: str, namespace: str, tmp_path: Path) -> Iterator[tuple[str, str, int]]:
    """The API in a process of its own: address, key, process id."""
    settings = settings_of(server_url, namespace, tmp_path)
    options = {
        "redis.url": server_url,
        "redis.namespace": namespace,
        "store.url": settings.store.url,
        "items.sink": settings.items.sink[0],
    }
    sets = [part for name, value in options.items() for part in ("--set", f"{name}={value}")]
    out, err = tmp_path / "out", tmp_path / "err"
    with out.open("w") as stdout, err.open("w") as stderr:
        process = subprocess.Popen(
            [SKITTER, "api", "--port", "0", *sets], cwd=tmp_path, stdout=stdout, stderr=stderr
        )
    try:
        wait_until(lambda: "The API is at" in err.read_text(), timeout_s=60, what="the API")
        address = err.read_text().rpartition("The API is at ")[2].split()[0]
        yield address, out.read_text().strip(), process.pid
    finally:
        process.terminate()
        process.wait(30)


async def test_a_hundred_thousand_urls_in_one_request_with_flat_memory(
    served: tuple[str, str, int],
) -> None:
    address, key, pid = served
    process = psutil.Process(pid)
    async with Client(address, key) as client:
        await client.submit_seeded({"spider": "link", "id": "warm"}, seeds(5_000))
        before = process.memory_info().rss
        answer = await client.submit_seeded({"spider": "link", "id": "many"}, seeds(MANY))
        growth = process.memory_info().rss - before
        assert answer["seeds"]["read"] == MANY
        assert answer["seeds"]["refused"] == []
        assert (await client.job("many"))["figures"]["accepted"] == MANY
        print(f"grew by {growth / 1024**2:.1f} MB")
        assert growth < MOST_GROWTH
        again = await client.add_seeds("many", seeds(MANY + 500))
        assert (again["known"], again["new"]) == (MANY, 500)


async def test_seeds_that_are_refused_are_told_with_their_reasons(place: Place) -> None:
    client = await place.client(Role.OPERATOR)
    scope = {"allowed_domains": ["books.example"]}
    await client.submit({"spider": "link", "id": "books", "seeds": [SEED], "scope": scope})

    async def lines() -> AsyncIterator[str]:
        yield SEED
        yield f"{SEED}new"
        yield "https://other.example/"
        yield '{"url": "https://books.example/x", "prioity": 5}'
        yield "# a comment"
        yield ""

    answer = await client.add_seeds("books", lines())
    assert (answer["read"], answer["new"], answer["known"]) == (4, 1, 1)
    assert {each["reason"]: each["count"] for each in answer["refused"]} == {
        "out of scope: domain": 1,
        "'prioity' is no field; did you mean 'priority'?": 1,
    }
    with pytest.raises(ClientError, match="404"):
        await client.add_seeds("nothing", lines())


async def test_a_job_with_its_seeds_in_one_request(place: Place) -> None:
    client = await place.client(Role.OPERATOR)
    answer = await client.submit_seeded({"spider": "link", "id": "b"}, seeds(2_500))
    assert answer["seeds"]["read"] == 2_500
    assert answer["job"]["figures"]["accepted"] == 2_500

    async def nothing() -> AsyncIterator[str]:
        return
        yield

    with pytest.raises(ClientError, match=r"400.*no seed"):
        await client.submit_seeded({"spider": "link"}, nothing())
    with pytest.raises(ClientError, match=r"400.*no job.*spider"):
        await client.submit_seeded({"spyder": "link"}, seeds(1))


async def test_many_jobs_in_one_request_each_by_itself(place: Place) -> None:
    client = await place.client(Role.OPERATOR)

    async def lines() -> AsyncIterator[str]:
        yield json.dumps({"spider": "link", "id": "one", "seeds": [SEED]})
        yield json.dumps({"spider": "link", "id": "one", "seeds": [SEED]})
        yield "{"
        yield json.dumps({"seeds": [SEED]})
        yield json.dumps({"spider": "link", "id": "two"})

    answer = await client.submit_bulk(lines())
    assert (answer["submitted"], answer["refused"]) == (2, 3)
    assert [line["job"] for line in answer["lines"]] == ["one", None, None, None, "two"]
    assert "such a job already" in answer["lines"][1]["error"]
    assert "spider" in answer["lines"][3]["error"]


async def test_a_post_is_repeated_by_its_key_and_done_once(place: Place) -> None:
    key = await place.key(Role.OPERATOR)
    headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": "k1"}
    job: dict[str, Any] = {"spider": "link", "seeds": [SEED]}
    async with aiohttp.ClientSession(place.url, headers=headers) as session:

        async def post(body: dict[str, Any]) -> tuple[int, Any, str | None]:
            async with session.post("/api/v1/jobs", json=body) as response:
                replayed = response.headers.get("Idempotency-Replayed")
                return response.status, await response.json(), replayed

        first, again = await post(job), await post(job)
        assert (first[0], first[2], again[0], again[2]) == (201, None, 201, "true")
        assert first[1] == again[1]
        other = await post(job | {"max_pages": 5})
        assert (other[0], other[1]["type"]) == (422, "urn:skitter:same-key-other-body")
    client = await place.client(Role.VIEWER)
    assert len((await client.jobs())["jobs"]) == 1


async def test_of_many_at_once_with_one_key_one_is_done(place: Place) -> None:
    client = await place.client(Role.OPERATOR)
    job = {"spider": "link", "seeds": [SEED]}
    answers = await asyncio.gather(
        *(client.submit(job, again="same") for _ in range(10)), return_exceptions=True
    )
    made = {answer["id"] for answer in answers if isinstance(answer, dict)}
    refused = [answer for answer in answers if isinstance(answer, ClientError)]
    assert len(made) == 1
    assert {error.status for error in refused} <= {409}
    assert len((await client.jobs())["jobs"]) == 1


async def test_streamed_bodies_are_repeated_without_being_held(place: Place) -> None:
    key = await place.key(Role.OPERATOR)
    headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": "lines"}
    body = b'{"spider": "link", "id": "books"}\n' + SEED.encode() + b"\n"
    async with aiohttp.ClientSession(place.url, headers=headers) as session:
        answers = []
        for data in (body, body, body + b"https://books.example/more\n"):
            async with session.post("/api/v1/jobs/seeded", data=data) as response:
                answers.append((response.status, await response.json()))
    assert [status for status, _ in answers] == [201, 201, 422]
    assert answers[0] == answers[1]


async def test_a_new_keys_text_is_not_kept_for_repeats(place: Place) -> None:
    admin = await place.key(Role.ADMIN)
    headers = {"Authorization": f"Bearer {admin}", "Idempotency-Key": "k"}
    async with (
        aiohttp.ClientSession(place.url, headers=headers) as session,
        session.post("/api/v1/keys", json={"name": "n"}) as response,
    ):
        text = (await response.json())["key"]
    folder = Path(place.services.settings.store.url.removeprefix("sqlite:")).parent
    secret = text.split("_", 2)[2].encode()
    assert not [path for path in folder.iterdir() if secret in path.read_bytes()]
