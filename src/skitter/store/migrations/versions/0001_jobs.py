"""Jobs, the words by which they are found, their errors, good runs, and totals."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_INDEXES = ("state", "outcome", "spider", "project")


def upgrade() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(200), primary_key=True),
        sa.Column("project", sa.String(100), nullable=False),
        sa.Column("spider", sa.String(200), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("outcome", sa.String(32), nullable=False),
        sa.Column("priority", sa.Integer, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("read_ms", sa.BigInteger, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("ended_ms", sa.BigInteger, nullable=False),
        sa.Column("expires_ms", sa.BigInteger, nullable=False),
        sa.Column("args", sa.JSON, nullable=False),
        sa.Column("labels", sa.JSON, nullable=False),
        sa.Column("attrs", sa.JSON, nullable=False),
        sa.Column("figures", sa.JSON, nullable=False),
        sa.Column("failures", sa.JSON, nullable=False),
        sa.Column("submission", sa.Text, nullable=False),
    )
    op.create_index("jobs_by_time", "jobs", ["created_ms", "id"])
    for name in _INDEXES:
        op.create_index(f"jobs_by_{name}", "jobs", [name, "created_ms", "id"])
    op.create_table(
        "job_words",
        sa.Column("word", sa.String(200), primary_key=True),
        sa.Column("created_ms", sa.BigInteger, primary_key=True),
        sa.Column("job", sa.String(200), primary_key=True),
        sqlite_with_rowid=False,
    )
    op.create_index("job_words_by_job", "job_words", ["job"])
    op.create_table(
        "job_errors",
        sa.Column("job", sa.String(200), primary_key=True),
        sa.Column("errors", sa.JSON, nullable=False),
    )
    op.create_table(
        "job_runs",
        sa.Column("job", sa.String(200), primary_key=True),
        sa.Column("lane", sa.String(16), nullable=False),
        sa.Column("ended_ms", sa.BigInteger, nullable=False),
        sa.Column("figures", sa.JSON, nullable=False),
    )
    op.create_index("job_runs_by_lane", "job_runs", ["lane", "ended_ms"])
    op.create_table(
        "job_totals",
        sa.Column("project", sa.String(100), primary_key=True),
        sa.Column("state", sa.String(16), primary_key=True),
        sa.Column("outcome", sa.String(32), primary_key=True),
        sa.Column("number", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    for name in ("job_totals", "job_runs", "job_errors", "job_words", "jobs"):
        op.drop_table(name)
