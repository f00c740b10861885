"""Where a job's items are, and reading them: a sink that has not been written to yet is empty."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from skitter.access_errors import OtherProject
from skitter.api.asking import job_for
from skitter.sinks import Wanted, read_page, read_stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skitter.access import Principal
    from skitter.services import Services
    from skitter.sinks import Stored

_FILES = frozenset({"sqlite", "jsonl", "csv", "parquet"})


async def place_of(services: Services, who: Principal, job: str | None) -> str:
    """The sink to read: that of the job, if it has one of its own."""
    if job is None:
        if who.project is not None:
            reason = "name one of its jobs"
            raise OtherProject(key=who.key, project=who.project, reason=reason)
        return str(services.settings.items.sink[0])
    view = await job_for(services, who, job)
    own = view.submission.sinks if view.submission else ()
    return str(own[0] if own else services.settings.items.sink[0])


def all_of(place: str, wanted: Wanted) -> Iterator[Stored]:
    """All items, one page of them in memory at a time."""
    return iter(()) if _is_new(place) else read_stored(place, wanted)


def page_of(
    place: str, wanted: Wanted, *, after: str | None, limit: int
) -> tuple[list[Stored], str | None]:
    """Some of the items, and where the next page begins; None: that was all."""
    return ([], None) if _is_new(place) else read_page(place, wanted, after=after, limit=limit)


def _is_new(place: str) -> bool:
    scheme, _, path = place.partition(":")
    return scheme in _FILES and not Path(path.partition("?")[0]).exists()
