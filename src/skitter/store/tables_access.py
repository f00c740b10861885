"""Tables of who may do what, and of what was done. Times are milliseconds since 1970, UTC."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
)

from skitter.store.tables import metadata

# SQLite numbers rows by itself only where the column is INTEGER.
_NUMBER = BigInteger().with_variant(Integer, "sqlite")

keys = Table(
    "api_keys",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("name", String(100), nullable=False),
    Column("role", String(16), nullable=False),
    Column("project", String(64)),
    Column("digest", String(64), nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("expires_ms", BigInteger),
    Column("revoked_ms", BigInteger),
    Column("used_ms", BigInteger),
)

audit = Table(
    "audit",
    metadata,
    Column("id", _NUMBER, primary_key=True, autoincrement=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("key_id", String(16), nullable=False),
    Column("name", String(100), nullable=False),
    Column("role", String(16), nullable=False),
    Column("project", String(64)),
    Column("action", String(200), nullable=False),
    Column("status", Integer),
    Column("detail", Text),
    Column("address", String(64)),
    Column("request_id", String(64)),
    Index("audit_at", "at_ms"),
    Index("audit_key", "key_id", "id"),
)

answers = Table(
    "idempotent_answers",
    metadata,
    Column("key_id", String(16), nullable=False),
    Column("name", String(200), nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("digest", String(64)),
    Column("status", Integer),
    Column("headers", Text),
    Column("body", LargeBinary),
    PrimaryKeyConstraint("key_id", "name"),
    Index("idempotent_answers_at", "at_ms"),
)

polls = Table(
    "poll_answers",
    metadata,
    Column("owner", String(16), nullable=False),
    Column("poll_id", String(200), nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("answer", Text, nullable=False),
    PrimaryKeyConstraint("owner", "poll_id"),
    Index("poll_answers_at", "at_ms"),
)

feed_counts = Table(
    "feed_counts",
    metadata,
    Column("name", String(64), nullable=False),
    Column("slot", BigInteger, nullable=False),
    Column("count", BigInteger, nullable=False),
    PrimaryKeyConstraint("name", "slot"),
)
