"""`skitter keys`: made, listed and revoked from the command line."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from skitter.access import Keys, Role
from skitter.access_errors import BadKey
from skitter.cli.main import app
from skitter.store import Store

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def store_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return f"sqlite:{tmp_path / 'kept.db'}"


def run(store_url: str, *args: str, code: int = 0) -> str:
    command = ["keys", *args, "--set", f"store.url={store_url}"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == code, result.output
    return result.stdout


def test_a_key_is_made_shown_once_listed_and_revoked(store_url: str) -> None:
    made = json.loads(
        run(store_url, "create", "nightly", "--role", "operator", "--project", "shop",
            "--expires", "30d", "--json")
    )  # fmt: skip
    assert made["key"].startswith(f"sk_{made['id']}_")
    assert made["expires_ms"] - made["created_ms"] == 30 * 86_400_000
    listed = run(store_url, "list", "--json")
    assert made["key"].split("_", 2)[2] not in listed
    assert [(key["name"], key["role"]) for key in json.loads(listed)] == [("nightly", "operator")]
    assert "nightly" in run(store_url, "list")
    assert "is revoked" in run(store_url, "revoke", made["id"])
    assert json.loads(run(store_url, "list", "--json"))[0]["revoked_ms"]


def test_on_stdout_there_is_the_key_alone(store_url: str) -> None:
    assert run(store_url, "create", "n").strip().startswith("sk_")
    run(store_url, "create", "n", "--expires", "soon", code=2)
    run(store_url, "revoke", "nokey", code=1)


async def test_a_key_opens_what_its_role_may_until_it_is_revoked(store_url: str) -> None:
    # The command has a loop of its own, so it runs in a thread.
    text = (await asyncio.to_thread(run, store_url, "create", "n", "--role", "admin")).strip()
    async with await Store.open(store_url) as store:
        assert (await Keys(store).verify(text)).role is Role.ADMIN
        await asyncio.to_thread(run, store_url, "revoke", text.split("_")[1])
        with pytest.raises(BadKey):
            await Keys(store).verify(text)
