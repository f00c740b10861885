"""Server-sent events, read as they come."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator


@dataclass(frozen=True, slots=True)
class Event:
    """One event. id is empty for a job's progress, which is not kept."""

    id: str
    kind: str
    data: dict[str, Any]


async def read_events(lines: AsyncIterable[bytes]) -> AsyncIterator[Event]:
    """The events of a stream's lines; signs of life are passed over."""
    fields: dict[str, str] = {}
    async for raw in lines:
        line = raw.decode().rstrip("\r\n")
        if line and not line.startswith(":"):
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
        elif not line:
            if "data" in fields:
                yield Event(fields.get("id", ""), fields["event"], json.loads(fields["data"]))
            fields = {}
