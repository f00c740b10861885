"""Keys and the record of changes: for admins of the whole."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import ConfigDict, Field

from skitter.access import Entry, Key, Role
from skitter.api.asking import Admin, Served, refusals
from skitter.api.kinds import Filter, Given, Limit, Project, Told, Word
from skitter.api.times import aware, of_ms

router = APIRouter(prefix="/api/v1", tags=["keys"], responses=refusals())
KeyId = Annotated[
    str, Path(pattern=r"^[a-z0-9]{1,16}$", description="The key's id.", examples=["ab3k9w2mzq"])
]


class KeyIn(Given):
    """A key to be."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"name": "nightly prices", "role": "operator", "project": "shop"}]
        }
    )

    name: Annotated[Word, Field(max_length=100)]
    """Whose it is, or what for."""
    role: Role = Role.VIEWER
    project: Project | None = None
    """With one, only what belongs to it is there for this key."""
    expires_s: Annotated[float, Field(gt=0, le=1e10, allow_inf_nan=False)] | None = None


class KeyOut(Told):
    """What is known of a key."""

    id: str
    name: str
    role: Role
    project: str | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    used_at: datetime | None
    """Right to a minute."""


class NewKeyOut(KeyOut):
    """A new key, and its text."""

    key: str
    """Shown this once: it is not kept."""


class KeysOut(Told):
    """All keys, the newest first."""

    keys: list[KeyOut]


class EntryOut(Told):
    """One change: who, when, what. status is that of its answer; null: it was cut off."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": 812,
                    "at": "2026-11-16T08:15:00Z",
                    "key_id": "ab3k9w2mzq",
                    "name": "nightly prices",
                    "role": "operator",
                    "project": "shop",
                    "action": "POST /api/v1/jobs/books/stop",
                    "status": 200,
                    "detail": None,
                    "address": "127.0.0.1",
                    "request_id": "0f3c2a9d1b7e4c55",
                }
            ]
        }
    )

    id: int
    at: datetime | None
    key_id: str
    name: str
    role: str
    project: str | None
    action: str
    status: int | None
    detail: str | None
    address: str | None
    request_id: str | None


class AuditOut(Told):
    """Changes, the newest first."""

    entries: list[EntryOut]
    next: int | None
    """For `after`; null at the end."""


@router.get("/keys")
async def list_keys(services: Served, _who: Admin) -> KeysOut:
    """List all keys, the revoked ones too; their secrets are not known."""
    return KeysOut(keys=[KeyOut(**_fields(key)) for key in await services.keys.list()])


@router.post("/keys", status_code=201)
async def create_key(given: KeyIn, services: Served, _who: Admin) -> NewKeyOut:
    """Make a key. Its text is in this answer and never again."""
    key, text = await services.keys.create(
        name=given.name, role=given.role, project=given.project, expires_s=given.expires_s
    )
    return NewKeyOut(**_fields(key), key=text)


@router.delete("/keys/{key}", responses=refusals(404))
async def revoke_key(key: KeyId, services: Served, _who: Admin) -> KeyOut:
    """Let a key open nothing more: here at once, on other servers within a second."""
    return KeyOut(**_fields(await services.keys.revoke(key)))


@router.get("/audit")
async def list_audit(
    services: Served,
    _who: Admin,
    key: Filter = None,
    since: datetime | None = None,
    after: Annotated[
        int | None, Query(ge=0, le=2**62, description="`next` of the last page.")
    ] = None,
    limit: Limit = 100,
) -> AuditOut:
    """Every change that was made through the API or by a command, the newest first.

    Those of commands have the key `cli` and the name of the user.
    """
    moment = aware(since)
    since_ms = None if moment is None else int(moment.timestamp() * 1000)
    found = await services.audit.list(key=key, since_ms=since_ms, after=after, limit=limit)
    following = found[-1].id if len(found) == limit else None
    return AuditOut(entries=[_entry(entry) for entry in found], next=following)


def _fields(key: Key) -> dict[str, object]:
    return {
        "id": key.id,
        "name": key.name,
        "role": key.role,
        "project": key.project,
        "created_at": of_ms(key.created_ms),
        "expires_at": of_ms(key.expires_ms),
        "revoked_at": of_ms(key.revoked_ms),
        "used_at": of_ms(key.used_ms),
    }


def _entry(entry: Entry) -> EntryOut:
    fields = {name: getattr(entry, name) for name in Entry.__slots__ if name != "at_ms"}
    return EntryOut(at=of_ms(entry.at_ms), **fields)
