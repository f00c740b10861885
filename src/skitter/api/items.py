"""Items: page by page, and as an export that is sent while it is made."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import ConfigDict

from skitter.api.asking import Served, Viewer, refusals
from skitter.api.exporting import Exports, exported
from skitter.api.item_places import all_of, page_of, place_of
from skitter.api.kinds import Cursor, Filter, Limit, Told
from skitter.api.times import as_stored
from skitter.sinks import Wanted
from skitter.sinks.columns import Selection

if TYPE_CHECKING:
    from skitter.sinks import Stored

router = APIRouter(prefix="/api/v1/items", tags=["items"], responses=refusals())
Form = Literal["jsonl", "json", "csv", "xlsx", "parquet"]
MEDIA_TYPES = {
    "jsonl": "application/x-ndjson",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
}


class ItemOut(Told):
    """An item, and where it came from."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "3f2a…",
                    "job": "books",
                    "spider": "ecommerce",
                    "kind": "Product",
                    "url": "https://books.example/1",
                    "data": {"title": "A book", "price": "9.90"},
                    "attrs": {},
                    "first_seen": "2026-11-16T08:15:00.000Z",
                    "last_seen": "2026-11-16T08:15:00.000Z",
                }
            ]
        }
    )

    id: str
    job: str
    spider: str
    kind: str
    url: str
    data: dict[str, Any]
    attrs: dict[str, Any]
    first_seen: str
    last_seen: str


class ItemPageOut(Told):
    """Some items, in the order in which each was first stored."""

    items: list[ItemOut]
    next: str | None
    """For `after`; null at the end."""


@router.get("", responses=refusals(404, 501))
async def list_items(  # noqa: PLR0913, PLR0917 - each is a parameter of its own
    services: Served,
    who: Viewer,
    job: Filter = None,
    spider: Filter = None,
    kind: Filter = None,
    since: datetime | None = None,
    after: Cursor = None,
    limit: Limit = 100,
) -> ItemPageOut:
    """List items page by page. A key for a project has to name one of its jobs."""
    place = await place_of(services, who, job)
    wanted = Wanted(job, spider, kind, as_stored(since))
    found, following = await asyncio.to_thread(page_of, place, wanted, after=after, limit=limit)
    return ItemPageOut(items=[item_out(each) for each in found], next=following)


@router.get(
    "/export",
    responses=refusals(404, 501)
    | {
        200: {
            "description": "The items in the form that was asked for.",
            "content": {
                media.partition(";")[0]: {
                    "schema": {"type": "string"},
                    "example": '{"title": "A book", "_url": "https://books.example/1"}\n',
                }
                for media in MEDIA_TYPES.values()
            },
        }
    },
    response_class=StreamingResponse,
)
async def export_items(  # noqa: PLR0913, PLR0917 - each is a parameter of its own
    request: Request,
    services: Served,
    who: Viewer,
    form: Annotated[Form, Query(alias="format")] = "jsonl",
    job: Filter = None,
    spider: Filter = None,
    kind: Filter = None,
    since: datetime | None = None,
    fields: Annotated[
        str, Query(max_length=2_000, description="Only these: title,offers.0.price,_url.")
    ] = "",
    bare: Annotated[bool, Query(description="Leave out where items came from.")] = False,  # noqa: FBT002 - a query's flag
) -> StreamingResponse:
    """Export items as JSON Lines, JSON, CSV, XLSX or Parquet, in constant memory."""
    place = await place_of(services, who, job)
    wanted = Wanted(job, spider, kind, as_stored(since))
    names = [name.strip() for name in fields.split(",") if name.strip()]
    exports: Exports = request.app.state.exports
    chunks = await exported(exports, form, lambda: all_of(place, wanted), Selection(names, bare))
    name = f"{job or 'items'}.{form}"
    headers = {"Content-Disposition": f'attachment; filename="{_plain(name)}"'}
    return StreamingResponse(chunks, media_type=MEDIA_TYPES[form], headers=headers)


def item_out(found: Stored) -> ItemOut:
    """An item as it is shown."""
    item = found.item
    return ItemOut(
        id=item.id,
        job=item.job,
        spider=item.spider,
        kind=item.kind,
        url=item.url,
        data=item.data,
        attrs=item.attrs,
        first_seen=found.first_seen,
        last_seen=found.last_seen,
    )


def _plain(name: str) -> str:
    return "".join(char if char.isalnum() or char in "._-" else "_" for char in name)
