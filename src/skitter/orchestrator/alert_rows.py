"""Alerts' rows in the store: how rules stand, what happened, and whom it is still to be told."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, delete, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from skitter.orchestrator.alert_rules import AlertState, Key
from skitter.orchestrator.counting import Sample
from skitter.store.tables_jobs import jobs
from skitter.store.tables_schedules import alert_deliveries, alert_events, alert_samples, alerts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlalchemy import Connection

LABEL_CHARS = 300


@dataclass(frozen=True, slots=True)
class Delivery:
    """An event on its way to one target."""

    event: str
    target: str
    attempts: int
    body: dict[str, Any]


def read_states(connection: Connection) -> dict[Key, AlertState]:
    """How all rules stand."""
    rows = connection.execute(select(alerts)).mappings()
    return {(row["rule"], row["label"]): AlertState(**row) for row in rows}


def write_states(connection: Connection, states: Mapping[Key, AlertState]) -> None:
    """How all rules stand now, instead of what was known before."""
    connection.execute(delete(alerts))
    rows = [asdict(state) for state in states.values()]
    if rows:
        connection.execute(insert(alerts), rows)


def read_samples(connection: Connection) -> list[Sample]:
    """What the last leader noted of counters."""
    rows = connection.execute(select(alert_samples).order_by(alert_samples.c.at_ms))
    return [Sample(row.at_ms / 1000, row.counters, row.whole) for row in rows]


def write_sample(connection: Connection, sample: Sample, *, keep_s: float) -> None:
    """Keep a sample for the next leader; older ones than that go, and so does what is later."""
    at_ms = int(sample.at * 1000)
    old = alert_samples.c.at_ms < at_ms - int(keep_s * 1000)
    connection.execute(delete(alert_samples).where(or_(old, alert_samples.c.at_ms >= at_ms)))
    row = {"at_ms": at_ms, "whole": sample.whole, "counters": dict(sample.counters)}
    connection.execute(insert(alert_samples).values(row))


def insert_event(connection: Connection, body: Mapping[str, Any], targets: Iterable[str]) -> None:
    """Something happened; each target is to be told. An event that is there is left as it is."""
    row = {
        "id": body["event"],
        "at_ms": body["at_ms"],
        "rule": body["rule"],
        "label": body["label"],
        "kind": body["kind"],
        "body": dict(body),
    }
    if not connection.execute(_insert(connection, alert_events, row)).rowcount:
        return
    for target in targets:
        delivery = {
            "event": body["event"],
            "target": target,
            "attempts": 0,
            "next_ms": body["at_ms"],
            "error": "",
        }
        connection.execute(_insert(connection, alert_deliveries, delivery))


def read_deliveries(connection: Connection, *, now_ms: int, limit: int) -> list[Delivery]:
    """What is to be told by now."""
    query = (
        select(alert_deliveries, alert_events.c.body)
        .join(alert_events, alert_events.c.id == alert_deliveries.c.event)
        .where(alert_deliveries.c.next_ms <= now_ms)
        .order_by(alert_deliveries.c.next_ms, alert_deliveries.c.event)
        .limit(limit)
    )
    return [
        Delivery(row.event, row.target, row.attempts, row.body) for row in connection.execute(query)
    ]


def write_delivery(
    connection: Connection,
    delivery: Delivery,
    *,
    next_ms: int | None,
    done_ms: int | None,
    error: str,
) -> None:
    """How an attempt went; without a next one it is over."""
    where = and_(
        alert_deliveries.c.event == delivery.event, alert_deliveries.c.target == delivery.target
    )
    values = {
        "attempts": delivery.attempts + 1,
        "next_ms": next_ms,
        "done_ms": done_ms,
        "error": error[:500],
    }
    connection.execute(update(alert_deliveries).where(where).values(values))


def read_events(connection: Connection, *, limit: int) -> list[dict[str, Any]]:
    """What happened, the newest first."""
    query = select(alert_events.c.body).order_by(alert_events.c.at_ms.desc()).limit(limit)
    return [row.body for row in connection.execute(query)]


def delete_events(connection: Connection, *, before_ms: int, limit: int) -> int:
    """Forget what happened long ago; how many events there were."""
    old = select(alert_events.c.id).where(alert_events.c.at_ms < before_ms).limit(limit)
    ids = [row.id for row in connection.execute(old)]
    if ids:
        connection.execute(delete(alert_deliveries).where(alert_deliveries.c.event.in_(ids)))
        connection.execute(delete(alert_events).where(alert_events.c.id.in_(ids)))
    return len(ids)


def read_quality_failed(connection: Connection, *, since: float, limit: int = 100) -> list[str]:
    """Jobs whose items did not pass their gates, that ended since a moment."""
    query = (
        select(jobs.c.id)
        .where(jobs.c.outcome == "quality failed", jobs.c.ended_ms >= int(since * 1000))
        .order_by(jobs.c.created_ms.desc())
        .limit(limit)
    )
    return [row.id for row in connection.execute(query)]


def _insert(connection: Connection, table: Any, row: dict[str, Any]) -> Any:
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    return dialect.insert(table).values(row).on_conflict_do_nothing()
