"""Schedules, ticks, terms of leaders, orchestrators, alerts and their deliveries."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "schedules",
        sa.Column("name", sa.String(80), primary_key=True),
        sa.Column("spec", sa.JSON, nullable=False),
        sa.Column("paused", sa.Boolean, nullable=False),
        sa.Column("source", sa.String(500), nullable=False),
        sa.Column("last_ms", sa.BigInteger, nullable=False),
        sa.Column("next_ms", sa.BigInteger),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("changed_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "ticks",
        sa.Column("schedule", sa.String(80), primary_key=True),
        sa.Column("at_ms", sa.BigInteger, primary_key=True),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("job", sa.String(200), nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("manual", sa.Boolean, nullable=False),
        sa.Column("changed_ms", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("ticks_by_state", "ticks", ["state", "at_ms"])
    op.create_table(
        "terms",
        sa.Column("name", sa.String(80), primary_key=True),
        sa.Column("term", sa.BigInteger, nullable=False),
        sa.Column("owner", sa.String(200), nullable=False),
    )
    op.create_table(
        "orchestrators",
        sa.Column("name", sa.String(200), primary_key=True),
        sa.Column("seen_ms", sa.BigInteger, nullable=False),
        sa.Column("said", sa.JSON, nullable=False),
    )
    _create_alerts()


def _create_alerts() -> None:
    op.create_table(
        "alerts",
        sa.Column("rule", sa.String(80), primary_key=True),
        sa.Column("label", sa.String(300), primary_key=True),
        sa.Column("phase", sa.String(16), nullable=False),
        sa.Column("since", sa.Float, nullable=False),
        sa.Column("value", sa.Float, nullable=False),
        sa.Column("fired_at", sa.Float, nullable=False),
        sa.Column("below_since", sa.Float),
    )
    op.create_table(
        "alert_events",
        sa.Column("id", sa.String(100), primary_key=True),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("rule", sa.String(80), nullable=False),
        sa.Column("label", sa.String(300), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("body", sa.JSON, nullable=False),
    )
    op.create_index("alert_events_by_time", "alert_events", ["at_ms"])
    op.create_table(
        "alert_deliveries",
        sa.Column("event", sa.String(100), primary_key=True),
        sa.Column("target", sa.String(64), primary_key=True),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("next_ms", sa.BigInteger),
        sa.Column("done_ms", sa.BigInteger),
        sa.Column("error", sa.Text, nullable=False),
    )
    op.create_index("alert_deliveries_by_time", "alert_deliveries", ["next_ms"])


def downgrade() -> None:
    for name in (
        "alert_deliveries",
        "alert_events",
        "alerts",
        "orchestrators",
        "terms",
        "ticks",
        "schedules",
    ):
        op.drop_table(name)
