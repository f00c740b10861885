"""Jobs as the API takes and gives them."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import ConfigDict, Field

from skitter.access import Principal, Role
from skitter.access_errors import NotAllowed, OtherProject
from skitter.api.kinds import JOB_ID, Given, Object, Priority, Project, Text, Told, Word
from skitter.jobs.submission import Submission

if TYPE_CHECKING:
    from skitter.settings import Settings

Positive = Annotated[int, Field(ge=1, le=2**53)]
Seconds = Annotated[float, Field(ge=0, le=1e8, allow_inf_nan=False)]
Texts = Annotated[list[Text], Field(max_length=1_000)]
Words = Annotated[dict[Word, Text], Field(max_length=64)]


class ScopeIn(Given):
    """Which URLs belong to the job: all, unless told otherwise."""

    allowed_domains: Texts = Field(default_factory=list)
    allow: Texts = Field(default_factory=list)
    """Regular expressions, of which a URL has to fit one."""
    deny: Texts = Field(default_factory=list)
    """Regular expressions that a URL must not fit; they win."""
    deny_extensions: Texts = Field(default_factory=list)


class ActionIn(Given):
    """Something to do when the job has ended."""

    kind: Literal["export", "webhook", "job"]
    options: Object = Field(default_factory=dict)


class SubmissionIn(Given):
    """A job to be. Without seeds, the spider's start() makes the first requests."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "spider": "link",
                    "args": {"depth": "2"},
                    "seeds": ["https://books.example/"],
                    "scope": {"allowed_domains": ["books.example"]},
                    "max_pages": 1000,
                    "labels": {"team": "catalogue"},
                }
            ]
        }
    )

    spider: Word
    id: Annotated[str, Field(pattern=JOB_ID)] | None = None
    """Unsaid, it is given one."""
    args: Words = Field(default_factory=dict)
    seeds: Annotated[list[Text], Field(max_length=10_000)] = Field(default_factory=list)
    """URLs, or JSON objects of requests as text; more of them by POST /jobs/{id}/seeds."""
    scope: ScopeIn = ScopeIn()
    priority: Priority = 0
    max_pages: Positive | None = None
    max_depth: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    max_per_host: Positive | None = None
    expires_s: Annotated[float, Field(gt=0, le=1e8, allow_inf_nan=False)] | None = None
    delay_s: Seconds | None = None
    concurrency: Annotated[int, Field(ge=1, le=100_000)] | None = None
    robots: bool = True
    dedup: Word | None = None
    """A set of seen URLs that outlives the job, shared by all jobs that name it."""
    attrs: Object = Field(default_factory=dict)
    """Handed through to every item."""
    labels: Annotated[
        dict[Annotated[str, Field(min_length=1, max_length=64)], Word], Field(max_length=64)
    ] = Field(default_factory=dict)
    project: Project | None = None
    sinks: Texts = Field(default_factory=list)
    """Where the items go, unless items.sink; those that the settings do not name need an admin."""
    gates: Object = Field(default_factory=dict)
    on_end: Annotated[list[ActionIn], Field(max_length=20)] = Field(default_factory=list)
    unique: bool = False
    """Refused while a job with equal spider, args, seeds and scope is live."""

    def submission(self, who: Principal, settings: Settings) -> Submission:
        """What the service takes; raises where it is not theirs to ask for."""
        fields = self.model_dump() | {"project": self.project or who.project or "default"}
        check_rights(fields, who, settings)
        return Submission.from_json(fields)


def check_rights(fields: dict[str, Any], who: Principal, settings: Settings) -> None:
    """A key for a project submits there; files and stores of the servers are an admin's to name."""
    project = fields.get("project", who.project or "default")
    if not who.sees(project):
        raise OtherProject(key=who.key, project=who.project, reason=f"that is {project}")
    new_places = set(fields.get("sinks") or ()) - {str(url) for url in settings.items.sink}
    for action in fields.get("on_end") or ():
        if action["kind"] == "export":
            new_places.add(str(action["options"].get("to", "")))
        if action["kind"] == "job":
            check_rights(action["options"], who, settings)
    if new_places and not who.role.covers(Role.ADMIN):
        raise NotAllowed(key=who.key, role=who.role.value, needed=Role.ADMIN.value)


class EditsIn(Given):
    """What is different in the clone; what is unsaid is as in the original."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"max_pages": 5000}]})

    id: Annotated[str, Field(pattern=JOB_ID)] | None = None
    args: Words | None = None
    seeds: Annotated[list[Text], Field(max_length=10_000)] | None = None
    priority: Priority | None = None
    max_pages: Positive | None = None
    max_depth: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    expires_s: Annotated[float, Field(gt=0, le=1e8, allow_inf_nan=False)] | None = None
    attrs: Object | None = None


class PriorityIn(Given):
    model_config = ConfigDict(json_schema_extra={"examples": [{"priority": 10}]})

    priority: Priority
    """Higher is sooner."""


class FiguresOut(Told):
    """accepted = queued + leased + delayed + done + buried + discarded."""

    accepted: int
    done: int
    queued: int
    leased: int
    delayed: int
    buried: int
    discarded: int = 0
    retries: int
    crashes: int
    pages: int
    items: int
    errors: int
    bytes: int


class JobOut(Told):
    """A job: its state now, or as it was when it ended, with its figures."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "link-261116-081500-a1b2c3",
                    "project": "default",
                    "spider": "link",
                    "args": {"depth": "2"},
                    "labels": {},
                    "attrs": {},
                    "state": "running",
                    "outcome": "",
                    "priority": 0,
                    "created_at": "2026-11-16T08:15:00+00:00",
                    "ended_at": None,
                    "expires_at": None,
                    "figures": {
                        **dict.fromkeys(FiguresOut.model_fields, 0),
                        "accepted": 12,
                        "queued": 12,
                    },
                    "failures": [],
                    "submission": None,
                }
            ]
        }
    )

    id: str
    project: str
    spider: str
    args: dict[str, str]
    labels: dict[str, str]
    attrs: dict[str, Any]
    state: Literal["queued", "running", "paused", "ended"]
    outcome: str
    """Empty until it has ended: finished, failed, cancelled, expired, limit reached, …"""
    priority: int
    created_at: datetime
    ended_at: datetime | None
    expires_at: datetime | None
    figures: FiguresOut
    failures: list[dict[str, Any]] = Field(default_factory=list)
    """Gates of quality that it did not pass."""
    hint: str = ""
    """What it waits for, where that can be told."""
    submission: dict[str, Any] | None = None
    """What was asked for; in listings it is left out."""


class JobPageOut(Told):
    """Some jobs, the newest first."""

    jobs: list[JobOut]
    next: str | None
    """For `after`; null at the end."""


class CountOut(Told):
    model_config = ConfigDict(json_schema_extra={"examples": [{"count": 42, "at_least": False}]})

    count: int
    at_least: bool
    """There may be more: counting has a bound, to cost the same however long the history is."""
