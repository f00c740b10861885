"""Only what failed, again: a live job's dead letters replayed, an ended one's in a new job."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from skitter.jobs.pushing import held_open

if TYPE_CHECKING:
    from skitter.frontier import Frontier, Request

AT_ONCE = 200


async def replay_failed(frontier: Frontier, job: str) -> int:
    """Queue a live job's dead letters again; how many. What fails anew meanwhile stays."""
    replayed = 0
    async with held_open(frontier, job):
        until_ms = await frontier.dead.last_ms(job)
        while letters := await frontier.dead.oldest(job, until_ms=until_ms):
            done = sum(await frontier.dead.replay(letters))
            if not done:  # it has ended, or others take them
                break
            replayed += done
    return replayed


async def copy_failed(frontier: Frontier, job: str, *, to: str) -> int:
    """Add the requests of an ended job's dead letters to another job; how many were new there."""
    added, batch = 0, []
    async for letter in frontier.dead.walk(job):
        if letter.request is not None:
            batch.append(_anew(letter.request, to))
        if len(batch) >= AT_ONCE:
            added += (await frontier.add(batch)).new
            batch = []
    return added + (await frontier.add(batch)).new


async def discard_failed(frontier: Frontier, job: str) -> None:
    """Throw a job's dead letters away."""
    until_ms = await frontier.dead.last_ms(job)
    while letters := await frontier.dead.oldest(job, until_ms=until_ms):
        await frontier.dead.discard(letters)


def _anew(request: Request, job: str) -> Request:
    """As a new job's: with no attempts behind it, and no key of the old job's."""
    return replace(request, job=job, attempts=0, crashes=0, key="")
