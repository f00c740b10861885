"""schemathesis on the OpenAPI document, with every kind of key.

No 5xx, no undocumented status or content type, whoever asks; a viewer changes nothing, a revoked
key and one of another project get nothing. SKITTER_FUZZ_S=600 gives each key ten minutes.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skitter.access import Role
from skitter.frontier import HostPolicy, Request, Settlement
from skitter.jobs.submission import Submission
from skitter.services import open_services
from skitter.store.tables import metadata
from tests.integration.api.place import Place, serving, settings_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from sqlalchemy import Connection

    from skitter.services import Services

FUZZ_S = int(os.environ.get("SKITTER_FUZZ_S", "12"))
HIDDEN = "zqhidden"
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,"
    "response_schema_conformance,answers_nothing_else,shows_nothing_hidden"
)
pytestmark = pytest.mark.timeout(120 + 2 * FUZZ_S)


@pytest.fixture
async def full_place(server_url: str, namespace: str, tmp_path: Path) -> AsyncIterator[Place]:
    """An API with something of everything, all of it in one project."""
    limits = {"rate_per_s": 1e6, "burst": 1_000_000}
    settings = settings_of(server_url, namespace, tmp_path, **limits)
    async with open_services(settings) as services, serving(services) as place:
        await _fill(services)
        yield place


async def _fill(services: Services) -> None:
    for state in ("live", "paused", "ended"):
        seeds = tuple(f"https://{HIDDEN}.example/{state}/{n}" for n in range(3))
        await services.jobs.submit(
            Submission(
                spider="link", id=f"{HIDDEN}-{state}", seeds=seeds, project="shop",
                labels={"team": HIDDEN}, delay_s=0,
            )
        )  # fmt: skip
    await services.jobs.pause(f"{HIDDEN}-paused")
    await services.jobs.stop(f"{HIDDEN}-ended")
    await services.frontier.hosts.set_policy(f"{HIDDEN}.example", HostPolicy(robots_ms=600_000))
    job = (await services.frontier.jobs.record(f"{HIDDEN}-live")).job
    await services.frontier.add([Request(job.id, f"https://{HIDDEN}.example/dead")])
    leased = await services.frontier.lease([job.lane], count=1)
    bury = [
        Settlement(lease, outcome="bury", reason=HIDDEN, error=HIDDEN) for lease in leased.leases
    ]
    assert all(await services.frontier.settle(bury))


async def snapshot(services: Services) -> dict[str, Any]:
    """All that a key could have changed, read behind the API's back."""
    views = (await services.jobs.list(limit=500)).jobs
    hosts = await services.frontier.hosts.ranking("queued", limit=100)
    letters = await services.frontier.dead.find(limit=1000)

    def counts(db: Connection) -> dict[str, int]:
        tables = {name: table for name, table in metadata.tables.items() if name not in LOGS}
        return {name: len(list(db.execute(table.select()))) for name, table in tables.items()}

    return {
        "jobs": [view.to_json() for view in views],
        "hosts": hosts,
        "letters": letters,
        "keys": [(key.id, key.revoked_ms) for key in await services.keys.list()],
        "rows": await services.store.read(counts),
    }


LOGS = {"audit", "feed_counts", "idempotent_answers", "poll_answers"}


async def fuzz(place: Place, key: str, **environment: str) -> None:
    hooks = "tests.integration.api.fuzz_hooks"
    command = [
        str(Path(sys.executable).parent / "schemathesis"), "run", f"{place.url}/openapi.json",
        "--header", f"Authorization: Bearer {key}", "--checks", CHECKS,
        "--exclude-path-regex", "events$", "--max-time", str(FUZZ_S), "--max-examples", "50",
        "--phases", "examples,coverage,fuzzing", "--continue-on-failure", "--no-color",
        "--request-timeout", "30", "--warnings", "off",
        "--generation-database", "none", "--generation-with-security-parameters", "false",
    ]  # fmt: skip
    root = str(Path(__file__).parents[3])
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=Path(place.services.settings.store.url.removeprefix("sqlite:")).parent,
        env=os.environ | {"SCHEMATHESIS_HOOKS": hooks, "PYTHONPATH": root} | environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    told, _ = await process.communicate()
    assert process.returncode == 0, told.decode()[-20_000:]


@pytest.mark.parametrize("role", [Role.ADMIN, Role.OPERATOR])
async def test_whoever_may_change_things_gets_documented_answers(
    full_place: Place, role: Role
) -> None:
    await fuzz(full_place, await full_place.key(role))


async def test_a_viewer_changes_nothing(full_place: Place) -> None:
    key = await full_place.key(Role.VIEWER)
    before = await snapshot(full_place.services)
    assert len(before["jobs"]) == 3
    assert before["letters"]
    await fuzz(full_place, key)
    assert await snapshot(full_place.services) == before


async def test_a_revoked_key_gets_nothing(full_place: Place) -> None:
    key = await full_place.key(Role.ADMIN)
    await full_place.services.keys.revoke(key.split("_")[1])
    before = await snapshot(full_place.services)
    await fuzz(full_place, key, SKITTER_FUZZ_ONLY="401,404,405,429", SKITTER_FUZZ_HIDDEN=HIDDEN)
    assert await snapshot(full_place.services) == before


async def test_a_key_of_another_project_sees_and_changes_nothing_of_this_one(
    full_place: Place,
) -> None:
    key = await full_place.key(Role.ADMIN, project="other")
    before = await snapshot(full_place.services)
    await fuzz(full_place, key, SKITTER_FUZZ_HIDDEN=HIDDEN)
    after = await snapshot(full_place.services)
    shop = [view for view in after["jobs"] if view["project"] == "shop"]
    assert shop == before["jobs"]
    assert after["letters"] == before["letters"]
    assert after["keys"] == before["keys"]
