"""Ways to find jobs by more than one column, and totals by spider."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_INDEXES = (
    ("project", "spider"),
    ("project", "outcome"),
    ("spider", "outcome"),
    ("project", "spider", "outcome"),
)


def upgrade() -> None:
    for names in _INDEXES:
        op.create_index(f"jobs_by_{'_'.join(names)}", "jobs", [*names, "created_ms", "id"])
    op.create_table(
        "job_spider_totals",
        sa.Column("spider", sa.String(200), primary_key=True),
        sa.Column("project", sa.String(100), primary_key=True),
        sa.Column("state", sa.String(16), primary_key=True),
        sa.Column("outcome", sa.String(32), primary_key=True),
        sa.Column("number", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    op.execute(
        "INSERT INTO job_spider_totals (spider, project, state, outcome, number) "
        "SELECT spider, project, state, outcome, COUNT(*) FROM jobs "
        "GROUP BY spider, project, state, outcome"
    )


def downgrade() -> None:
    op.drop_table("job_spider_totals")
    for names in _INDEXES:
        op.drop_index(f"jobs_by_{'_'.join(names)}", "jobs")
