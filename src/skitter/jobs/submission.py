"""What is asked for: a spider with arguments, seeds, bounds, and what to do at the end.

It is checked before anything is written, and said in words where it cannot be. It is kept as JSON
beside the job's row, so that a job can be cloned long after it has ended.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field, fields
from hashlib import blake2b
from typing import Any, Literal, get_args

import ormsgpack

from skitter.frontier import Job, Scope
from skitter.service_errors import BadSubmission

ActionKind = Literal["export", "webhook", "job"]
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+=-]{0,127}")
MOST_LABELS, MOST_CHARS = 64, 200
NEVER_JOB = {"id", "seeds", "on_end", "unique"}


@dataclass(frozen=True, kw_only=True)
class Action:
    """Something to do when a job has ended.

    export: `to` (a file), `format`. webhook: `url`, `secret`, `headers`. job: the fields of a
    submission. Each may name `outcomes` that it is for; unsaid, it is for all.
    """

    kind: ActionKind
    options: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "options": self.options}


@dataclass(frozen=True, kw_only=True)
class Submission:
    """A job to be. Without seeds, the spider's start() makes its first requests.

    gates are those of `skitter.validate.gates`, or `usual` for what the spider calls so.
    """

    spider: str
    id: str | None = None
    args: dict[str, str] = field(default_factory=dict)
    seeds: tuple[str, ...] = ()
    scope: Scope = field(default_factory=Scope)
    priority: int = 0
    max_pages: int | None = None
    max_depth: int | None = None
    max_per_host: int | None = None
    expires_s: float | None = None
    delay_s: float | None = None
    concurrency: int | None = None
    robots: bool = True
    dedup: str | None = None
    attrs: dict[str, Any] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    project: str = "default"
    sinks: tuple[str, ...] = ()
    gates: dict[str, Any] | str = field(default_factory=dict)
    on_end: tuple[Action, ...] = ()
    unique: bool = False

    def check(self) -> None:
        """Raise BadSubmission with the first thing that is wrong."""
        for problem in _problems(self):
            raise BadSubmission(reason=problem)

    def job(self, job_id: str) -> Job:
        """The frontier's job."""
        common = {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if each.name not in NEVER_JOB
        }
        return Job(
            id=job_id,
            on_end=tuple(action.to_json() for action in self.on_end),
            unique=self.digest() if self.unique else "",
            seeds=len(self.seeds),
            **common,
        )

    def digest(self) -> str:
        """What two submissions of the same crawl share: spider, arguments, seeds and scope."""
        same = [self.spider, sorted(self.args.items()), list(self.seeds), asdict(self.scope)]
        return blake2b(ormsgpack.packb(same), digest_size=12).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """For the store and the API; `from_json` reads it."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        found["scope"] = {name: list(value) for name, value in asdict(self.scope).items()}
        found["on_end"] = [action.to_json() for action in self.on_end]
        return found | {"seeds": list(self.seeds), "sinks": list(self.sinks)}

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Submission:
        """The submission of an object; raises BadSubmission for fields that there are not."""
        known = {each.name for each in fields(cls)}
        if unknown := sorted(set(found) - known):
            raise BadSubmission(reason=f"{unknown[0]!r} is no field of a submission")
        given = dict(found)
        try:
            given["scope"] = _scope(given.get("scope") or {})
            given["on_end"] = tuple(Action(**each) for each in given.get("on_end") or ())
            for name in ("seeds", "sinks"):
                given[name] = tuple(given.get(name) or ())
            return cls(**given)
        except TypeError as error:
            raise BadSubmission(reason=str(error)) from error

    @classmethod
    def of_job(cls, job: Job) -> Submission:
        """What a job that came another way would have been submitted as, its seeds apart."""
        common = {
            each.name: getattr(job, each.name) for each in fields(cls) if each.name not in NEVER_JOB
        }
        actions = tuple(Action(**each) for each in job.on_end)
        return cls(id=job.id, on_end=actions, unique=bool(job.unique), **common)


def _scope(found: dict[str, Any]) -> Scope:
    return Scope(**{name: tuple(value) for name, value in found.items()})


def _problems(submission: Submission) -> list[str]:
    found = [*_name_problems(submission), *_scope_problems(submission.scope)]
    for name in ("max_pages", "max_per_host", "concurrency"):
        value = getattr(submission, name)
        if value is not None and value < 1:
            found.append(f"its {name} should be at least 1, not {value}")
    for name in ("max_depth", "expires_s", "delay_s"):
        value = getattr(submission, name)
        if value is not None and not 0 <= value < 1e9:
            found.append(f"its {name} should not be {value}")
    if not -1_000_000 <= submission.priority <= 1_000_000:
        found.append("its priority should be between -1,000,000 and 1,000,000")
    found += [
        f"{action.kind!r} is nothing that can be done at the end: {', '.join(get_args(ActionKind))}"
        for action in submission.on_end
        if action.kind not in get_args(ActionKind)
    ]
    return found + _packing_problems(submission)


def _name_problems(submission: Submission) -> list[str]:
    found = []
    if submission.id is not None and not ID.fullmatch(submission.id):
        found.append(
            f"its id {submission.id[:40]!r} should be 1 to 128 letters, digits and . _ : @ + = -"
        )
    for name, most in (("spider", MOST_CHARS), ("project", 100)):
        if not 0 < len(getattr(submission, name)) <= most:
            found.append(f"its {name} should have between 1 and {most} characters")
    if len(submission.labels) > MOST_LABELS:
        found.append(f"it has more than {MOST_LABELS} labels")
    for table in ("args", "labels"):
        for name, value in getattr(submission, table).items():
            if not (isinstance(name, str) and isinstance(value, str)):
                found.append(f"its {table} should be texts by names: {name!r} is not")
    if any(len(name) + len(value) > MOST_CHARS for name, value in submission.labels.items()):
        found.append(f"a label is longer than {MOST_CHARS} characters")
    return found


def _scope_problems(scope: Scope) -> list[str]:
    found = []
    for pattern in (*scope.allow, *scope.deny):
        try:
            re.compile(pattern)
        except re.error as error:
            found.append(f"its pattern {pattern!r} is not a regular expression: {error}")
    return found


def _packing_problems(submission: Submission) -> list[str]:
    """What cannot be written down would fail half-way through."""
    try:
        ormsgpack.packb([submission.attrs, submission.gates, submission.to_json()["on_end"]])
    except (TypeError, ormsgpack.MsgpackEncodeError) as error:
        return [f"its attrs, gates or actions cannot be stored: {error}"]
    return []
