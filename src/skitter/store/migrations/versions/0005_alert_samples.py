"""What windows of alert rules are measured by, for the next leader."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "alert_samples",
        sa.Column("at_ms", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("whole", sa.Boolean, nullable=False),
        sa.Column("counters", sa.JSON, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("alert_samples")
