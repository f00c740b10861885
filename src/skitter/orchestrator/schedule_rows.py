"""Schedules' and ticks' rows in the store.

A query may run again after its commit stood (see Store): each of these bears that.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from skitter.orchestrator.schedule import Due, Schedule, Tick, job_id, moment_of, ms_of
from skitter.store.tables_schedules import schedules, ticks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Connection, Row

OPEN = ("claimed", "waiting")


def insert_schedule(
    connection: Connection, schedule: Schedule, *, now: datetime, next_at: datetime | None
) -> bool:
    """Keep a new schedule; False if there is one of its name."""
    values = _values(schedule) | {
        "last_ms": ms_of(now),
        "next_ms": ms_of(next_at) if next_at else None,
        "created_ms": ms_of(now),
        "changed_ms": ms_of(now),
    }
    statement = _insert(connection, schedules).values(values).on_conflict_do_nothing()
    return bool(connection.execute(statement).rowcount)


def update_schedule(
    connection: Connection, schedule: Schedule, *, now: datetime, next_at: datetime | None
) -> bool:
    """Replace a schedule; from now on it ticks by what it says now."""
    values = _values(schedule) | {
        "last_ms": ms_of(now),
        "next_ms": ms_of(next_at) if next_at else None,
        "changed_ms": ms_of(now),
    }
    where = schedules.c.name == schedule.name
    return bool(connection.execute(update(schedules).where(where).values(values)).rowcount)


def delete_schedule(connection: Connection, name: str) -> bool:
    """Forget a schedule and its ticks; jobs stay."""
    connection.execute(delete(ticks).where(ticks.c.schedule == name))
    return bool(connection.execute(delete(schedules).where(schedules.c.name == name)).rowcount)


def read_schedules(connection: Connection, name: str | None = None) -> list[Row[Any]]:
    """All schedules by name, or one."""
    query = select(schedules).order_by(schedules.c.name)
    if name is not None:
        query = query.where(schedules.c.name == name)
    return list(connection.execute(query))


def read_due(connection: Connection, now: datetime) -> list[Row[Any]]:
    """Schedules whose time has come."""
    where = and_(schedules.c.paused.is_(False), schedules.c.next_ms <= ms_of(now))
    return list(connection.execute(select(schedules).where(where)))


def claim(connection: Connection, row: Row[Any], found: Due, *, now: datetime) -> bool:
    """Insert the ticks that are due and move the schedule on, unless another was first."""
    moved = connection.execute(
        update(schedules)
        .where(schedules.c.name == row.name, schedules.c.next_ms == row.next_ms)
        .values(
            last_ms=ms_of(max([*found.run, *found.missed, moment_of(row.last_ms)])),
            next_ms=ms_of(found.next_at) if found.next_at else None,
        )
    ).rowcount
    if not moved:
        return False
    rows = [
        _tick_row(row.name, at, state, now=now)
        for state, moments in (("claimed", found.run), ("missed", found.missed))
        for at in moments
    ]
    if rows:
        connection.execute(_insert(connection, ticks).values(rows).on_conflict_do_nothing())
    return True


def insert_tick(connection: Connection, name: str, at: datetime) -> None:
    """A tick by hand."""
    row = _tick_row(name, at, "claimed", now=at, manual=True)
    connection.execute(_insert(connection, ticks).values(row).on_conflict_do_nothing())


def read_ticks(
    connection: Connection, *, states: Sequence[str], schedule: str | None = None, limit: int
) -> list[Tick]:
    """Ticks in some states, the oldest first."""
    query = select(ticks).where(ticks.c.state.in_(list(states)))
    if schedule is not None:
        query = query.where(ticks.c.schedule == schedule)
    return [tick_of(row) for row in connection.execute(query.order_by(ticks.c.at_ms).limit(limit))]


def read_history(
    connection: Connection, name: str, *, limit: int, before: datetime | None
) -> list[Tick]:
    """A schedule's ticks, the newest first."""
    query = select(ticks).where(ticks.c.schedule == name)
    if before is not None:
        query = query.where(ticks.c.at_ms < ms_of(before))
    return [
        tick_of(row)
        for row in connection.execute(query.order_by(ticks.c.at_ms.desc()).limit(limit))
    ]


def write_tick(connection: Connection, tick: Tick, *, now: datetime) -> None:
    """What became of a tick."""
    where = and_(ticks.c.schedule == tick.schedule, ticks.c.at_ms == ms_of(tick.at))
    values = {
        "state": tick.state,
        "job": tick.job,
        "note": tick.note[:500],
        "changed_ms": ms_of(now),
    }
    connection.execute(update(ticks).where(where).values(values))


def delete_ticks(connection: Connection, before: datetime, *, limit: int) -> int:
    """Forget old ticks that are over; how many there were."""
    over = and_(ticks.c.at_ms < ms_of(before), ticks.c.state.not_in((*OPEN, "submitted")))
    rows = connection.execute(
        select(ticks.c.schedule, ticks.c.at_ms).where(over).limit(limit)
    ).all()
    for name, at_ms in rows:
        connection.execute(delete(ticks).where(ticks.c.schedule == name, ticks.c.at_ms == at_ms))
    return len(rows)


def schedule_of(row: Row[Any]) -> Schedule:
    """The schedule of a row."""
    return Schedule(**row.spec, paused=row.paused, source=row.source)


def tick_of(row: Row[Any]) -> Tick:
    """The tick of a row."""
    return Tick(
        schedule=row.schedule,
        at=moment_of(row.at_ms),
        state=row.state,
        job=row.job,
        note=row.note,
        manual=row.manual,
    )


def _values(schedule: Schedule) -> dict[str, Any]:
    spec = {k: v for k, v in asdict(schedule).items() if k not in ("paused", "source")}
    return {
        "name": schedule.name,
        "spec": spec,
        "paused": schedule.paused,
        "source": schedule.source,
    }


def _tick_row(
    name: str, at: datetime, state: str, *, now: datetime, manual: bool = False
) -> dict[str, Any]:
    return {
        "schedule": name,
        "at_ms": ms_of(at),
        "state": state,
        "job": job_id(name, at, manual=manual),
        "note": "nobody was there" if state == "missed" else "",
        "manual": manual,
        "changed_ms": ms_of(now),
    }


def _insert(connection: Connection, table: Any) -> Any:
    """An insert that may meet a row that is there, in either database."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    return dialect.insert(table)
