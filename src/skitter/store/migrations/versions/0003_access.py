"""Keys, the record of changes, answers that are kept for repeats, and Scrapy Cluster's messages."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(16), primary_key=True),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("project", sa.String(64)),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("expires_ms", sa.BigInteger),
        sa.Column("revoked_ms", sa.BigInteger),
        sa.Column("used_ms", sa.BigInteger),
    )
    op.create_table(
        "audit",
        sa.Column("id", _NUMBER, primary_key=True, autoincrement=True),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("key_id", sa.String(16), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("project", sa.String(64)),
        sa.Column("action", sa.String(200), nullable=False),
        sa.Column("status", sa.Integer),
        sa.Column("detail", sa.Text),
        sa.Column("address", sa.String(64)),
        sa.Column("request_id", sa.String(64)),
    )
    op.create_index("audit_at", "audit", ["at_ms"])
    op.create_index("audit_key", "audit", ["key_id", "id"])
    _answers()
    op.create_table(
        "feed_counts",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("slot", sa.BigInteger, primary_key=True),
        sa.Column("count", sa.BigInteger, nullable=False),
    )


def _answers() -> None:
    op.create_table(
        "idempotent_answers",
        sa.Column("key_id", sa.String(16), primary_key=True),
        sa.Column("name", sa.String(200), primary_key=True),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("digest", sa.String(64)),
        sa.Column("status", sa.Integer),
        sa.Column("headers", sa.Text),
        sa.Column("body", sa.LargeBinary),
    )
    op.create_index("idempotent_answers_at", "idempotent_answers", ["at_ms"])
    op.create_table(
        "poll_answers",
        sa.Column("owner", sa.String(16), primary_key=True),
        sa.Column("poll_id", sa.String(200), primary_key=True),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("answer", sa.Text, nullable=False),
    )
    op.create_index("poll_answers_at", "poll_answers", ["at_ms"])


def downgrade() -> None:
    for name in ("feed_counts", "poll_answers", "idempotent_answers", "audit", "api_keys"):
        op.drop_table(name)
