"""Dead letters: list, group, show, replay as they are or edited, discard."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import ConfigDict, Field, model_validator

from skitter.access import Principal
from skitter.access_errors import OtherProject, UnknownLetter
from skitter.api.asking import Operator, Served, Viewer, job_for, refusals
from skitter.api.kinds import JOB_ID, Cursor, Filter, Given, Limit, Priority, Text, Told, Word
from skitter.api.requests import RequestOut, request_out
from skitter.api.times import of_ms
from skitter.frontier import DeadLetter, Request
from skitter.masking import mask_text
from skitter.services import Services

router = APIRouter(prefix="/api/v1/dead-letters", tags=["dead letters"], responses=refusals())
MOST = 10_000
LetterId = Annotated[
    str,
    Path(
        pattern=r"^[A-Za-z0-9._:/@-]{1,200}$",
        description="The dead letter's id.",
        examples=["5f1c0a9d3b77e2d4-0"],
    ),
]


class LetterOut(Told):
    """A request that was given up, and why. `request` is null where it cannot be read."""

    id: str
    job: str
    host: str
    reason: str
    error: str
    attempts: int
    crashes: int
    at: datetime | None
    request: RequestOut | None


class LettersOut(Told):
    """A page of dead letters, the newest first, and where to go on; null at the end.

    With a reason or a host, a page may be short and yet not the last.
    """

    letters: list[LetterOut]
    next: str | None


class GroupOut(Told):
    """Dead letters of one host and one reason."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"host": "books.example", "reason": "timeout", "count": 12}]
        }
    )

    host: str
    reason: str
    count: int


class GroupsOut(Told):
    """The largest first."""

    groups: list[GroupOut]


class WhichIn(Given):
    """Which dead letters are meant: some by id, or those that fit. dry_run only counts them."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"job": "books", "reason": "timeout", "dry_run": True}]}
    )

    ids: Annotated[list[Word], Field(min_length=1, max_length=1_000)] | None = None
    job: Annotated[str, Field(pattern=JOB_ID)] | None = None
    reason: Word | None = None
    host: Word | None = None
    everything: bool = False
    """All there are: has to be said, so that nothing is done because a field was forgotten."""
    dry_run: bool = False

    @model_validator(mode="after")
    def _says_which(self) -> WhichIn:
        if not (self.ids or self.job or self.reason or self.host or self.everything):
            raise ValueError("say which: ids, job, reason, host, or everything")
        return self


class EditIn(Given):
    """What is different when the request is tried again; it stays with its host."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"url": "https://books.example/page/2?sort=id"}]}
    )

    url: Text | None = None
    method: Annotated[str, Field(pattern=r"^[A-Z]{1,16}$")] | None = None
    headers: dict[Word, Text] | None = None
    body: Text | None = None
    callback: Word | None = None
    priority: Priority | None = None


class DoneOut(Told):
    """How many there were, and to how many it was done. gone: meanwhile, or their job has ended."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"found": 12, "done": 0, "gone": 0, "dry_run": True}]}
    )

    found: int
    done: int
    gone: int
    dry_run: bool


@router.get("", responses=refusals(404))
async def list_letters(
    services: Served,
    who: Viewer,
    job: Filter = None,
    reason: Filter = None,
    host: Filter = None,
    after: Cursor = None,
    limit: Limit = 50,
) -> LettersOut:
    """List dead letters, the newest first, page by page.

    A key for a project has to name one of its jobs.
    """
    await _check_job(services, who, job)
    page = await services.frontier.dead.page(
        job=job or "", reason=reason or "", host=host or "", after=after, limit=limit
    )
    return LettersOut(letters=[letter_out(letter) for letter in page.letters], next=page.next)


@router.get("/groups", responses=refusals(404))
async def group_letters(services: Served, who: Viewer, job: Filter = None) -> GroupsOut:
    """Count dead letters by host and reason, of the newest 10,000."""
    await _check_job(services, who, job)
    found = await services.frontier.dead.find(job=job or "", limit=MOST)
    counts = Counter((letter.host, letter.reason) for letter in found)
    return GroupsOut(
        groups=[
            GroupOut(host=host, reason=reason, count=count)
            for (host, reason), count in counts.most_common(1_000)
        ]
    )


@router.post("/replay", responses=refusals(404))
async def replay_letters(given: WhichIn, services: Served, who: Operator) -> DoneOut:
    """Queue dead letters again, first in line; up to 10,000 at once."""
    letters = await _chosen(services, who, given)
    if given.dry_run:
        return _done(letters, [], dry_run=True)
    return _done(letters, await services.frontier.dead.replay(letters), dry_run=False)


@router.post("/discard", responses=refusals(404))
async def discard_letters(given: WhichIn, services: Served, who: Operator) -> DoneOut:
    """Throw dead letters away for good; up to 10,000 at once."""
    letters = await _chosen(services, who, given)
    if given.dry_run:
        return _done(letters, [], dry_run=True)
    return _done(letters, await services.frontier.dead.discard(letters), dry_run=False)


@router.get("/{letter:path}", responses=refusals(404))
async def show_letter(letter: LetterId, services: Served, who: Viewer) -> LetterOut:
    """Show one dead letter."""
    return letter_out(await _one(services, who, letter))


@router.post("/{letter:path}/replay", responses=refusals(404))
async def replay_edited(
    letter: LetterId, given: EditIn, services: Served, who: Operator
) -> DoneOut:
    """Change one request and queue it again."""
    found = await _one(services, who, letter)
    edits: dict[str, Any] = given.model_dump(exclude_none=True)
    if "body" in edits:
        edits["body"] = edits["body"].encode()

    def edit(request: Request) -> Request:
        return replace(request, **edits)

    return _done([found], await services.frontier.dead.replay([found], edit=edit), dry_run=False)


def letter_out(letter: DeadLetter) -> LetterOut:
    """A dead letter as it is shown."""
    return LetterOut(
        id=letter.id,
        job=letter.job,
        host=letter.host,
        reason=letter.reason,
        error=mask_text(letter.error),
        attempts=letter.attempts,
        crashes=letter.crashes,
        at=of_ms(letter.at_ms),
        request=request_out(letter.request) if letter.request else None,
    )


async def _check_job(services: Services, who: Principal, job: str | None) -> None:
    if job is not None:
        await job_for(services, who, job)
    elif who.project is not None:
        reason = "name one of its jobs"
        raise OtherProject(key=who.key, project=who.project, reason=reason)


async def _one(services: Services, who: Principal, letter: str) -> DeadLetter:
    found = await services.frontier.dead.named([letter])
    if not found:
        raise UnknownLetter(letter=letter)
    await job_for(services, who, found[0].job)
    return found[0]


async def _chosen(services: Services, who: Principal, given: WhichIn) -> list[DeadLetter]:
    if given.ids:
        letters = await services.frontier.dead.named(given.ids)
        for job in {letter.job for letter in letters}:
            await job_for(services, who, job)
        return letters
    await _check_job(services, who, given.job)
    return await services.frontier.dead.find(
        job=given.job or "", reason=given.reason or "", host=given.host or "", limit=MOST
    )


def _done(letters: list[DeadLetter], answers: list[bool], *, dry_run: bool) -> DoneOut:
    done = sum(answers)
    return DoneOut(
        found=len(letters), done=done, gone=0 if dry_run else len(letters) - done, dry_run=dry_run
    )
