"""Times, as the API takes and gives them: ISO 8601, in UTC unless they say otherwise."""

from __future__ import annotations

from datetime import UTC, datetime


def aware(moment: datetime | None) -> datetime | None:
    """A time that does not say its zone is taken to be UTC."""
    if moment is None or moment.tzinfo is not None:
        return moment
    return moment.replace(tzinfo=UTC)


def of_ms(ms: int | None) -> datetime | None:
    """A time that was kept in milliseconds."""
    return None if ms is None else datetime.fromtimestamp(ms / 1000, UTC)


def as_stored(moment: datetime | None) -> str | None:
    """As sinks write times."""
    if moment is None:
        return None
    utc = (aware(moment) or moment).astimezone(UTC)
    return utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")
