"""Who may do what over HTTP: roles, projects, revocation, limits, and where the API listens."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from skitter.access import Role
from skitter.access_errors import CannotListen, ClientError, OpenToAll
from skitter.api import health
from skitter.api.serving import is_loopback, serve
from skitter.services import open_services
from tests.integration.api.place import SEED, Place, serving, settings_of
from tests.integration.engine.certificates import self_signed
from tests.servers import ServerProcess
from tests.wait import wait_until

if TYPE_CHECKING:
    from skitter.services import Services
    from skitter.settings import Settings

JOB = {"spider": "link", "seeds": [SEED]}
SKITTER = Path(sys.executable).parent / "skitter"


async def test_a_viewer_reads_and_an_operator_changes_and_an_admin_makes_keys(
    place: Place,
) -> None:
    viewer, operator = await place.client(Role.VIEWER), await place.client(Role.OPERATOR)
    admin = await place.client(Role.ADMIN)
    await operator.submit(JOB | {"id": "books"})
    assert (await viewer.job("books"))["id"] == "books"
    for change in (viewer.submit(JOB), viewer.stop("books"), viewer.delete("books")):
        with pytest.raises(ClientError, match=r"403.*needs operator"):
            await change
    with pytest.raises(ClientError, match=r"403.*needs admin"):
        await operator.ask("POST", "/api/v1/keys", body={"name": "n"})
    made = await admin.ask("POST", "/api/v1/keys", body={"name": "n", "role": "viewer"})
    assert (await (await place.client_with(made["key"])).jobs())["jobs"]
    listed = await admin.ask("GET", "/api/v1/keys")
    assert made["key"].split("_", 2)[2] not in json.dumps(listed)


async def test_a_key_for_a_project_sees_that_project_alone(place: Place) -> None:
    shop = await place.client(Role.ADMIN, project="shop")
    news = await place.client(Role.ADMIN, project="news")
    await shop.submit(JOB | {"id": "prices"})
    await news.submit(JOB | {"id": "stories"})
    assert [job["id"] for job in (await shop.jobs())["jobs"]] == ["prices"]
    assert (await shop.job("prices"))["project"] == "shop"
    with pytest.raises(ClientError, match="404"):
        await shop.job("stories")
    with pytest.raises(ClientError, match="404"):
        await shop.stop("stories")
    with pytest.raises(ClientError, match="403"):
        await shop.submit(JOB | {"project": "news"})
    for path in ("hosts", "workers", "status", "settings", "keys", "audit", "items"):
        with pytest.raises(ClientError, match="403"):
            await shop.ask("GET", f"/api/v1/{path}")
    with pytest.raises(ClientError, match="403"):
        await shop.jobs(project="news")


async def test_without_a_good_key_nothing_is_told(place: Place) -> None:
    nobody = await place.client_with("")
    stranger = await place.client_with("sk_nokey_" + "a" * 43)
    for client, words in ((nobody, "needs a key"), (stranger, "not known")):
        with pytest.raises(ClientError, match=rf"401.*{words}"):
            await client.jobs()


async def test_a_revoked_key_is_refused_at_once(place: Place) -> None:
    admin, text = await place.client(), await place.key(Role.ADMIN)
    victim = await place.client_with(text)
    await victim.jobs()
    await admin.ask("DELETE", f"/api/v1/keys/{text.split('_')[1]}")
    with pytest.raises(ClientError, match="401"):
        await victim.jobs()


async def test_every_change_is_in_the_audit_log_with_who_and_what(place: Place) -> None:
    operator, admin = await place.client(Role.OPERATOR), await place.client()
    hook = {"kind": "webhook", "options": {"url": "https://h/", "secret": "hunter2"}}
    await operator.submit(JOB | {"id": "books", "on_end": [hook]})
    await operator.stop("books")
    with pytest.raises(ClientError):
        await operator.stop("nothing")
    await operator.job("books")
    entries = (await admin.ask("GET", "/api/v1/audit"))["entries"]
    assert [(entry["action"], entry["status"]) for entry in entries] == [
        ("POST /api/v1/jobs/nothing/stop", 404),
        ("POST /api/v1/jobs/books/stop", 200),
        ("POST /api/v1/jobs", 201),
    ]
    assert {entry["role"] for entry in entries} == {"operator"}
    assert '"id": "books"' in entries[2]["detail"]
    assert "hunter2" not in json.dumps(entries)


async def test_too_many_requests_are_told_when_to_come_back(
    server_url: str, namespace: str, tmp_path: Path
) -> None:
    settings = settings_of(server_url, namespace, tmp_path, rate_per_s=1, burst=3)
    async with open_services(settings) as services, serving(services) as place:
        key = {"Authorization": f"Bearer {await place.key(Role.VIEWER)}"}
        async with aiohttp.ClientSession(place.url, headers=key) as session:
            statuses = []
            for _ in range(5):
                async with session.get("/api/v1/jobs") as response:
                    statuses.append(response.status)
                    waits = response.headers.get("Retry-After")
        assert statuses == [200, 200, 200, 429, 429]
        assert waits == "1"


async def test_a_body_that_is_too_long_does_nothing(
    server_url: str, namespace: str, tmp_path: Path
) -> None:
    settings = settings_of(server_url, namespace, tmp_path, max_body=2_000, max_stream=5_000)
    async with open_services(settings) as services, serving(services) as place:
        operator = await place.client(Role.OPERATOR)
        with pytest.raises(ClientError, match=r"413.*2,000 bytes"):
            await operator.submit(JOB | {"attrs": {"text": "x" * 3_000}})

        async def long() -> Any:
            for number in range(1_000):
                yield f"{SEED}{number}"

        await operator.submit(JOB | {"id": "books"})
        with pytest.raises((ClientError, aiohttp.ClientError)):
            await operator.add_seeds("books", long())
        assert (await operator.jobs())["jobs"][0]["figures"]["accepted"] < 1_000


async def test_a_request_that_takes_too_long_is_given_up(
    server_url: str, namespace: str, tmp_path: Path
) -> None:
    settings = settings_of(server_url, namespace, tmp_path, timeout_s=0.3)
    async with open_services(settings) as services, serving(services) as place:
        key = await place.key(Role.OPERATOR)
        host, port = place.url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        head = f"POST /api/v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
        writer.write(f"{head}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n".encode())
        await writer.drain()
        line = await asyncio.wait_for(reader.readline(), 30)
        assert line.startswith(b"HTTP/1.1 503")
        writer.close()


async def test_answers_carry_safe_headers_and_no_leave_for_other_origins(place: Place) -> None:
    key = {"Authorization": f"Bearer {await place.key(Role.VIEWER)}", "Origin": "https://evil"}
    async with (
        aiohttp.ClientSession(place.url, headers=key) as session,
        session.get("/api/v1/jobs") as response,
    ):
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Cache-Control"] == "no-store"
        assert "Access-Control-Allow-Origin" not in response.headers
        assert "Server" not in response.headers


async def test_it_listens_beyond_this_machine_only_with_a_key(
    services: Services, settings: Settings
) -> None:
    with pytest.raises(OpenToAll):
        await serve(services, host="0.0.0.0", port=0)
    await services.keys.create(name="n", role=Role.VIEWER)
    ready = asyncio.Event()
    task = asyncio.create_task(
        serve(services, host="0.0.0.0", port=0, on_ready=lambda _: ready.set())
    )
    await asyncio.wait_for(ready.wait(), 30)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert settings.api.host == "127.0.0.1"


async def test_a_port_that_is_taken_is_told(place: Place) -> None:
    port = int(place.url.rpartition(":")[2])
    with pytest.raises(CannotListen, match="in use"):
        await serve(place.services, port=port)


def test_what_is_of_this_machine_alone() -> None:
    assert [is_loopback(host) for host in ("127.0.0.1", "localhost", "::1", "127.1.2.3")] == [
        True
    ] * 4
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "example.com")))


def test_the_first_start_prints_a_key_once_and_speaks_tls(
    server_url: str, namespace: str, tmp_path: Path
) -> None:
    pem = str(self_signed(tmp_path, "api.example"))
    options = [
        "--port", "0", "--tls-cert", pem, "--tls-key", pem,
        "--set", f"redis.url={server_url}", "--set", f"redis.namespace={namespace}",
    ]  # fmt: skip
    printed = []
    for start in range(2):
        out, err = tmp_path / f"out{start}", tmp_path / f"err{start}"
        with out.open("w") as stdout, err.open("w") as stderr:
            process = subprocess.Popen(
                [SKITTER, "api", *options], cwd=tmp_path, stdout=stdout, stderr=stderr
            )
        try:
            wait_until(
                lambda err=err: "The API is at https://" in err.read_text(),  # type: ignore[misc]
                timeout_s=60,
                what=f"the API started: {err.read_text()}",
            )
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0
        printed.append(out.read_text().strip())
    assert printed[0].startswith("sk_first_")
    assert printed[1] == ""
    assert "Traceback" not in err.read_text()


async def test_readiness_says_what_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "WAIT_S", 0.5)
    with ServerProcess("valkey") as server:
        settings = settings_of(server.url, "ready", tmp_path)
        async with (
            open_services(settings) as services,
            serving(services) as place,
            aiohttp.ClientSession(place.url) as session,
        ):

            async def told(path: str) -> tuple[int, Any]:
                async with session.get(path) as response:
                    return response.status, await response.json()

            assert await told("/health/ready") == (
                200,
                {"status": "ready", "parts": {"frontier": "ok", "store": "ok"}},
            )
            server.kill()
            status, answer = await told("/health/ready")
            assert (status, answer["status"]) == (503, "not ready")
            assert answer["parts"]["store"] == "ok"
            assert answer["parts"]["frontier"] != "ok"
            assert (await told("/health/live"))[0] == 200
            assert (await told("/"))[1]["node_health"] == "YELLOW"
