"""When a schedule ticks, in its own time zone.

The rules are those of Debian's cron (cronsim): a time that the change to summer time skips ticks
right after the gap, a time that the change back doubles ticks once, and `*` ticks by elapsed time.
Ticks come out in UTC, strictly one after the other, whatever moment is asked from.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from skitter.orchestrator.errors import BadSchedule

NAMES = {
    "@yearly": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@hourly": "0 * * * *",
}
BACK = timedelta(hours=3)  # more than any clock was ever set back at once


class Cron:
    """A cron expression of five fields, of six with seconds before them, or a name like @daily."""

    def __init__(self, expression: str, timezone: str = "UTC") -> None:
        self.expression = NAMES.get(expression.strip().lower(), expression.strip())
        try:
            self._zone = ZoneInfo(timezone)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise BadSchedule(problem=f"there is no time zone {timezone}") from error
        try:
            CronSim(self.expression, datetime.now(UTC))
        except (CronSimError, AssertionError) as error:
            raise BadSchedule(problem=f"cron {expression!r}: {error}") from error

    def ticks(self, after: datetime, *, count: int) -> list[datetime]:
        """The next ticks after a moment; fewer where there is none for fifty years."""
        return self._take(after, count=count, until=None)

    def between(self, after: datetime, until: datetime, *, most: int) -> list[datetime]:
        """The ticks after a moment and up to another; the first so many of them."""
        return self._take(after, count=most, until=until)

    def _take(self, after: datetime, *, count: int, until: datetime | None) -> list[datetime]:
        found: list[datetime] = []
        last = after
        # In a doubled hour the walk may begin an hour early: it begins well before, and catches up.
        for tick in CronSim(self.expression, (after - BACK).astimezone(self._zone)):
            moment = tick.astimezone(UTC)
            if until is not None and moment > until:
                break
            if moment > last:
                found.append(moment)
                last = moment
            if len(found) >= count:
                break
        return found
