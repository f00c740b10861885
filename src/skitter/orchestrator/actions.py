"""What a job asks for at its end: an export, a call to a webhook, another job.

Each may be done twice after a crash, and is the same as once, but for webhooks: those are called
again, with the same event id, so that a receiver can tell.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from skitter.jobs.submission import ID, Submission
from skitter.orchestrator.job_items import stored_of
from skitter.service_errors import ActionFailed, BadSubmission, JobStands
from skitter.sinks.columns import Selection
from skitter.sinks.forms import WRITERS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from skitter.jobs.service import Jobs
    from skitter.jobs.view import JobView
    from skitter.orchestrator.webhook import Webhook


class Actions:
    """Does one action of a job; raises ActionFailed."""

    def __init__(
        self, jobs: Jobs, webhook: Webhook, *, sinks: Sequence[str], exports: Path
    ) -> None:
        self._jobs = jobs
        self._sinks = sinks
        self._exports = exports
        self._kinds: dict[str, Callable[[JobView, dict[str, Any], str], Awaitable[None]]] = {
            "export": self._export,
            "webhook": webhook.call,
            "job": self._submit,
        }

    async def do(self, view: JobView, action: dict[str, Any], *, event: str) -> None:
        """Do it, if it is for this outcome. event names the action of this job, always the same."""
        options = dict(action["options"])
        outcomes = options.pop("outcomes", None)
        if outcomes is None or view.outcome in outcomes:
            await self._kinds[action["kind"]](view, options, event)

    async def _export(self, view: JobView, options: dict[str, Any], _: str) -> None:
        name = str(options.get("to", "{job}.jsonl")).replace("{job}", view.id)
        form = str(options.get("format") or PurePosixPath(name).suffix.removeprefix("."))
        if form not in WRITERS:
            raise ActionFailed(reason=f"{form!r} is no form to export: {', '.join(WRITERS)}")
        path = _inside(self._exports, name)
        fields = tuple(options.get("fields", ()))
        selection = Selection(fields, bool(options.get("bare", False)))
        submission = view.submission
        sinks = (submission.sinks if submission else ()) or self._sinks
        try:
            await asyncio.to_thread(_write, path, form, selection, (sinks[0], view.id))
        except OSError as error:
            raise ActionFailed(reason=f"{path}: {error}") from error

    async def _submit(self, view: JobView, options: dict[str, Any], event: str) -> None:
        given = {"id": follower_id(view.id, event)} | options
        labels = {"after": view.id} | dict(given.get("labels") or {})
        try:
            await self._jobs.submit(Submission.from_json(given | {"labels": labels}))
        except BadSubmission as error:
            raise ActionFailed(reason=str(error)) from error
        except JobStands as stands:  # submitted before a crash, perhaps without all its seeds
            await self._jobs.resume_seeding(stands.job)


def follower_id(job: str, event: str) -> str:
    """The id of a job that follows another: always the same, so that it is submitted once."""
    name = f"{job}.then-{event.rpartition('-')[2]}"
    return name if ID.fullmatch(name) else f"then-{event}"


def _inside(folder: Path, name: str) -> Path:
    """A file of the folder for exports: a job must not choose among the files of this machine."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.name:
        raise ActionFailed(reason=f"{name!r} should be a name in the folder for exports")
    return folder / path


def _write(path: Path, form: str, selection: Selection, source: tuple[str, str]) -> None:
    """A file gets its name when it is whole."""
    sink, job = source
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as out:
            WRITERS[form](lambda: stored_of(sink, job), out, selection)
            out.flush()
            os.fsync(out.fileno())
        part.rename(path)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()
