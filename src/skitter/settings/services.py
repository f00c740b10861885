"""Settings of what is kept and of the services on top of it: the store, jobs and their end."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from skitter.settings.kinds import Beginnings, Seconds, SecondsOrZero, StoreUrl
from skitter.settings.section import Section


class StoreSettings(Section):
    """The SQL database with all that is kept: the history of jobs, schedules, keys."""

    url: StoreUrl = Field("sqlite:.skitter/skitter.db", validate_default=True)
    """Where it is: `sqlite:PATH`, or `postgresql://user@host/database` (needs the extra
    `postgres`). Its tables are made, and brought up to date, when it is opened."""


class JobsSettings(Section):
    """What jobs may ask for, and what becomes of them once they have ended."""

    sinks: Beginnings = ()
    """How the URLs of sinks that a job names must begin: `jsonl:/data/ postgresql://items@db/`.
    Without it, a job may name any place that workers can write to."""

    retention_s: SecondsOrZero = 300
    """How long an ended job stays in the server beside its row in the store."""
    dead_letters_days: float = Field(7, ge=0, allow_inf_nan=False)
    """How long an ended job's dead letters are kept, to be looked at and tried again; then they
    are discarded with the job."""
    export_dir: Path = Path(".skitter/exports")
    """The folder for files that jobs export at their end; a job names a file in it."""
    figures_s: Seconds = 2
    """How often the store's figures of live jobs are brought up to date."""
    webhook_timeout_s: Seconds = 10
    """How long a webhook may take to answer."""
    webhook_attempts: int = Field(8, ge=1, le=100)
    """How often a webhook, or another action at a job's end, is tried, with growing pauses, before
    it is given up."""
