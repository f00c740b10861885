"""What a job waits for that no figure shows: a worker that there is not, or a spider."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skitter.frontier.job import Job

TOLD = 50  # spiders that a worker names; one that names so many may have more


def hint_of(job: Job, workers: Sequence[dict[str, Any]]) -> str:
    """Why nobody is at work on a job, in words; empty if somebody may be."""
    if not workers:
        return "no worker is running: start one with skitter worker"
    trouble = f"{job.spider} ({job.lane})"
    for said in workers:
        if trouble in said.get("errors", {}):
            return f"its spider could not be opened: {said['errors'][trouble]}"
    if not any(_may_run(job.spider, said) for said in workers):
        return f"no worker has a spider {job.spider}: {len(workers)} run, with others"
    return ""


def _may_run(spider: str, said: dict[str, Any]) -> bool:
    names = said.get("spiders")
    return names is None or spider in names or len(names) >= TOLD
