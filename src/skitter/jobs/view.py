"""A job as it is shown: its state now, or as it was when it ended, with its figures."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from skitter.jobs.submission import Submission
from skitter.masking import mask_value

if TYPE_CHECKING:
    from skitter.frontier.live_jobs import JobRecord
    from skitter.frontier.stats import JobStats

ERRORS = ("spider_errors", "item_errors")


@dataclass(frozen=True, kw_only=True)
class Figures:
    """A job's counts: accepted = queued + leased + delayed + done + buried + discarded.

    errors are those of the spider and of pipelines; buried requests have errors of their own.
    """

    accepted: int = 0
    done: int = 0
    queued: int = 0
    leased: int = 0
    delayed: int = 0
    buried: int = 0
    discarded: int = 0
    retries: int = 0
    crashes: int = 0
    pages: int = 0
    items: int = 0
    errors: int = 0
    bytes: int = 0

    @classmethod
    def of(cls, stats: JobStats) -> Figures:
        said = stats.figures
        return cls(
            accepted=stats.accepted,
            done=stats.done,
            queued=stats.queued,
            leased=stats.leased,
            delayed=stats.delayed,
            buried=stats.buried,
            discarded=stats.discarded,
            retries=stats.retries,
            crashes=stats.crashes,
            pages=stats.pages,
            items=said.get("items", 0),
            errors=sum(said.get(name, 0) for name in ERRORS),
            bytes=said.get("bytes", 0),
        )

    @property
    def begun(self) -> bool:
        """Whether a worker has taken any of it."""
        return bool(self.done or self.leased or self.pages or self.buried or self.retries)


@dataclass(frozen=True, kw_only=True)
class JobView:
    """A job. hint says what it waits for, where that can be told; listings have no submission."""

    id: str
    project: str
    spider: str
    args: dict[str, str]
    labels: dict[str, str]
    attrs: dict[str, Any]
    state: str
    outcome: str
    priority: int
    version: int
    created_at: datetime
    ended_at: datetime | None
    expires_at: datetime | None
    figures: Figures
    failures: list[dict[str, Any]] = field(default_factory=list)
    hint: str = ""
    submission: Submission | None = None

    @property
    def ended(self) -> bool:
        return self.state == "ended"

    def to_json(self) -> dict[str, Any]:
        """For machines; times are ISO 8601, in UTC, and secrets are masked."""
        found = {name: value for name, value in vars(self).items() if name != "submission"}
        for name in ("created_at", "ended_at", "expires_at"):
            found[name] = found[name].isoformat() if found[name] else None
        found["figures"] = asdict(self.figures)
        found["args"] = mask_value(self.args)
        found["submission"] = mask_value(self.submission.to_json()) if self.submission else None
        return found


@dataclass(frozen=True)
class JobPage:
    """Some jobs of a listing, newest first, and the place to go on from; None at its end."""

    jobs: list[JobView]
    next: str | None


def state_of(record: JobRecord, figures: Figures) -> str:
    """A running job that no worker has touched yet is queued.

    One with gates has not ended before it is judged by them: its outcome is not known yet.
    """
    gated = record.job.gates or record.declared.get("gates")
    if record.state == "ended" and gated and not record.judged:
        return "running"
    return "queued" if record.state == "running" and not figures.begun else record.state


def view_of(
    record: JobRecord, stats: JobStats, *, submission: Submission | None = None, hint: str = ""
) -> JobView:
    """A live job, or one that has just ended."""
    job, figures = record.job, Figures.of(stats)
    state = state_of(record, figures)
    return JobView(
        id=job.id,
        project=job.project,
        spider=job.spider,
        args=job.args,
        labels=job.labels,
        attrs=job.attrs,
        state=state,
        outcome=record.outcome if state == "ended" else "",
        priority=record.priority,
        version=record.version,
        created_at=moment(record.created_ms),
        ended_at=moment(record.ended_ms) if state == "ended" else None,
        expires_at=moment(record.expires_ms) if record.expires_ms else None,
        figures=figures,
        failures=record.failures,
        hint=hint,
        submission=submission,
    )


def moment(ms: int) -> datetime:
    """A time of the server."""
    return datetime.fromtimestamp(ms / 1000, UTC)
