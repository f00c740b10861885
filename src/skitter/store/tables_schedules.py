"""Schedules and their ticks, who leads, alerts and what is to be told of them.

Times are milliseconds since 1970. A tick is one row, by schedule and time: whoever inserts it has
claimed it, and nobody can do so twice.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    String,
    Table,
    Text,
)

from skitter.store.tables import metadata

schedules = Table(
    "schedules",
    metadata,
    Column("name", String(80), primary_key=True),
    Column("spec", JSON, nullable=False),
    Column("paused", Boolean, nullable=False),
    Column("source", String(500), nullable=False),
    Column("last_ms", BigInteger, nullable=False),
    Column("next_ms", BigInteger),
    Column("created_ms", BigInteger, nullable=False),
    Column("changed_ms", BigInteger, nullable=False),
)

ticks = Table(
    "ticks",
    metadata,
    Column("schedule", String(80), primary_key=True),
    Column("at_ms", BigInteger, primary_key=True),
    Column("state", String(16), nullable=False),
    Column("job", String(200), nullable=False),
    Column("note", Text, nullable=False),
    Column("manual", Boolean, nullable=False),
    Column("changed_ms", BigInteger, nullable=False),
    Index("ticks_by_state", "state", "at_ms"),
    sqlite_with_rowid=False,
)

terms = Table(
    "terms",
    metadata,
    Column("name", String(80), primary_key=True),
    Column("term", BigInteger, nullable=False),
    Column("owner", String(200), nullable=False),
)

orchestrators = Table(
    "orchestrators",
    metadata,
    Column("name", String(200), primary_key=True),
    Column("seen_ms", BigInteger, nullable=False),
    Column("said", JSON, nullable=False),
)

alerts = Table(
    "alerts",
    metadata,
    Column("rule", String(80), primary_key=True),
    Column("label", String(300), primary_key=True),
    Column("phase", String(16), nullable=False),
    Column("since", Float, nullable=False),
    Column("value", Float, nullable=False),
    Column("fired_at", Float, nullable=False),
    Column("below_since", Float),
)

alert_samples = Table(
    "alert_samples",
    metadata,
    Column("at_ms", BigInteger, primary_key=True, autoincrement=False),
    Column("whole", Boolean, nullable=False),
    Column("counters", JSON, nullable=False),
)

alert_events = Table(
    "alert_events",
    metadata,
    Column("id", String(100), primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("rule", String(80), nullable=False),
    Column("label", String(300), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("body", JSON, nullable=False),
    Index("alert_events_by_time", "at_ms"),
)

alert_deliveries = Table(
    "alert_deliveries",
    metadata,
    Column("event", String(100), primary_key=True),
    Column("target", String(64), primary_key=True),
    Column("attempts", Integer, nullable=False),
    Column("next_ms", BigInteger),
    Column("done_ms", BigInteger),
    Column("error", Text, nullable=False),
    Index("alert_deliveries_by_time", "next_ms"),
)
