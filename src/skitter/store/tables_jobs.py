"""Jobs as they are kept: a row each, the words that find them, good runs, and totals.

Times are milliseconds since 1970, so that they sort and compare alike everywhere. Each way to
filter has an index that ends with (created_ms, id): a page is read in order from there, however
long the history is. Columns that are common each and rare together have one together; a state needs
none, for all but `ended` are few. Totals are counted as rows change, for to count rows takes time.
"""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Column, Index, Integer, String, Table, Text

from skitter.store.tables import metadata

jobs = Table(
    "jobs",
    metadata,
    Column("id", String(200), primary_key=True),
    Column("project", String(100), nullable=False),
    Column("spider", String(200), nullable=False),
    Column("state", String(16), nullable=False),
    Column("outcome", String(32), nullable=False),
    Column("priority", Integer, nullable=False),
    Column("version", Integer, nullable=False),
    Column("read_ms", BigInteger, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("ended_ms", BigInteger, nullable=False),
    Column("expires_ms", BigInteger, nullable=False),
    Column("args", JSON, nullable=False),
    Column("labels", JSON, nullable=False),
    Column("attrs", JSON, nullable=False),
    Column("figures", JSON, nullable=False),
    Column("failures", JSON, nullable=False),
    Column("submission", Text, nullable=False),
    Index("jobs_by_time", "created_ms", "id"),
    Index("jobs_by_state", "state", "created_ms", "id"),
    Index("jobs_by_outcome", "outcome", "created_ms", "id"),
    Index("jobs_by_spider", "spider", "created_ms", "id"),
    Index("jobs_by_project", "project", "created_ms", "id"),
    Index("jobs_by_project_spider", "project", "spider", "created_ms", "id"),
    Index("jobs_by_project_outcome", "project", "outcome", "created_ms", "id"),
    Index("jobs_by_spider_outcome", "spider", "outcome", "created_ms", "id"),
    Index("jobs_by_project_spider_outcome", "project", "spider", "outcome", "created_ms", "id"),
)

job_words = Table(
    "job_words",
    metadata,
    Column("word", String(200), primary_key=True),
    Column("created_ms", BigInteger, primary_key=True),
    Column("job", String(200), primary_key=True),
    Index("job_words_by_job", "job"),
    sqlite_with_rowid=False,
)

job_errors = Table(
    "job_errors",
    metadata,
    Column("job", String(200), primary_key=True),
    Column("errors", JSON, nullable=False),
)

job_runs = Table(
    "job_runs",
    metadata,
    Column("job", String(200), primary_key=True),
    Column("lane", String(16), nullable=False),
    Column("ended_ms", BigInteger, nullable=False),
    Column("figures", JSON, nullable=False),
    Index("job_runs_by_lane", "lane", "ended_ms"),
)

job_totals = Table(
    "job_totals",
    metadata,
    Column("project", String(100), primary_key=True),
    Column("state", String(16), primary_key=True),
    Column("outcome", String(32), primary_key=True),
    Column("number", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

job_spider_totals = Table(
    "job_spider_totals",
    metadata,
    Column("spider", String(200), primary_key=True),
    Column("project", String(100), primary_key=True),
    Column("state", String(16), primary_key=True),
    Column("outcome", String(32), primary_key=True),
    Column("number", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)
