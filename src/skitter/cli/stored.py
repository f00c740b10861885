"""Options for commands that read a sink, and what they mean."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from skitter.settings import load_settings, parse_sets
from skitter.sinks import Wanted, read_stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skitter.sinks import Stored

Job = Annotated[str | None, typer.Option(help="Only this job's items.")]
Spider = Annotated[str | None, typer.Option(help="Only this spider's items.")]
Kind = Annotated[str | None, typer.Option(help="Only items of this class.")]
Since = Annotated[
    str | None,
    typer.Option(help="Only items stored since then: 2026-11-16, 2026-11-16T08:00Z, 30m, 12h, 7d."),
]
From = Annotated[
    str | None,
    typer.Option("--from", metavar="URL", help="The sink to read, unless the first of items.sink."),
]
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class Reading:
    """What is to be read from which sink; each call reads it anew."""

    def __init__(self, place: str, wanted: Wanted) -> None:
        self.place = place
        self.wanted = wanted

    def __call__(self) -> Iterator[Stored]:
        return read_stored(self.place, self.wanted)


def reading(place: str | None, sets: list[str] | None, wanted: Wanted) -> Reading:
    """The sink that was named, or the first one of the settings."""
    return Reading(place or load_settings(parse_sets(sets or [])).items.sink[0], wanted)


def since_text(text: str | None) -> str | None:
    """A time, or how long ago, as sinks write times."""
    if text is None:
        return None
    ago = re.fullmatch(r"([0-9]+)([smhd])", text)
    try:
        if ago:
            moment = datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        else:
            moment = datetime.fromisoformat(text)
    except (ValueError, OverflowError) as error:
        raise typer.BadParameter(f"--since {text}: {error}") from error
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
