"""Options for commands that read a sink, and what they mean."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from skitter.settings import load_settings, parse_sets
from skitter.sinks import Wanted, read_stored
from skitter.sinks.conditions import Condition
from skitter.sinks.json_text import to_json
from skitter.sinks.rows import time_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skitter.sinks import Stored

Job = Annotated[str | None, typer.Option(help="Only items that this job saw last.")]
Spider = Annotated[str | None, typer.Option(help="Only this spider's items.")]
Kind = Annotated[str | None, typer.Option(help="Only items of this class.")]
Since = Annotated[
    str | None,
    typer.Option(help="Only what was stored since then: 2026-11-16, 2026-11-16T08:00Z, 30m, 7d."),
]
Until = Annotated[
    str | None, typer.Option(help="Only what was stored for the last time before then.")
]
ChangedSince = Annotated[
    str | None,
    typer.Option(help="Only what is new or changed since then; by tracked fields, or any."),
]
Where = Annotated[
    list[str] | None,
    typer.Option(help="A condition on a field, may be repeated: price<100, brand=Acme, !sku."),
]
From = Annotated[
    str | None,
    typer.Option("--from", metavar="URL", help="The sink to read, unless the first of items.sink."),
]
SHOWN_CHARS = 60
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


@dataclass(frozen=True)
class Filters:
    """What commands have in common to say which items; as it was written."""

    job: str | None
    spider: str | None
    kind: str | None
    since: str | None
    until: str | None
    changed_since: str | None
    where: list[str] | None

    def wanted(self) -> Wanted:
        """The same as sinks take it."""
        return Wanted(
            self.job,
            self.spider,
            self.kind,
            time_of("--since", self.since),
            time_of("--until", self.until),
            time_of("--changed-since", self.changed_since),
            where=tuple(map(Condition.parse, self.where or ())),
        )


def cell(value: Any) -> Text:
    """A value in a table: one line, and not too long."""
    if value is None:
        return Text("")
    text = value if isinstance(value, str) else to_json(value, url="")
    text = " ".join(text.split())
    return Text(text if len(text) <= SHOWN_CHARS else f"{text[: SHOWN_CHARS - 1]}…")


def time_of(option: str, text: str | None) -> str | None:
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
        raise typer.BadParameter(f"{option} {text}: {error}") from error
    return time_text(moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment)
