"""Exceptions of the services: what is kept, jobs, and what is built on them.

They belong to the tree of `skitter.errors` and are made like its own.
"""

from __future__ import annotations

from skitter.errors import SkitterError


class StoreError(SkitterError):
    """The store {store} could not be used: {reason}

    Check store.url; nothing that runs is lost, for live jobs are not kept there alone.
    """


class StoreNewer(StoreError):
    """The store {store} was written by a newer Skitter: its version is {found}, ours {known}.

    Install that Skitter, or name another store with store.url.
    """


class BadSubmission(SkitterError):
    """The job cannot be submitted: {reason}"""


class JobStands(SkitterError):
    """There is such a job already: {job}.

    Wait for it to end, stop it, or submit another one.
    """


class JobLive(SkitterError):
    """The job {job} has not ended ({state}).

    Stop it first.
    """


class BadCursor(SkitterError):
    """The place to go on from, {cursor}, is not one that a listing gave."""


class NothingFailed(SkitterError):
    """Nothing of the job {job} failed that could be tried again."""


class ActionFailed(SkitterError):
    """What a job asks for at its end could not be done: {reason}"""


class CannotInit(SkitterError):
    """No project {name} can be made: {reason}

    Choose another name, or another folder with --dir.
    """


class UnknownTarget(SkitterError):
    """{target} cannot be crawled: {reason}

    Example: skitter crawl https://shop.example/ --max-pages 100
    """


class CannotCrawl(SkitterError):
    """The job {job} cannot go on: {reason}

    The log says more; `skitter doctor` looks at what a crawl needs.
    """


class NoJobToPushTo(SkitterError):
    """There is no job {job} to push to.

    Give --spider NAME, with --arg NAME=VALUE for each of its arguments, to submit it.
    """


class JobDiffers(SkitterError):
    """The job {job} stands already, and is for {standing}, not for {wanted}.

    Leave out --spider and --arg to push to it as it is, or choose another id.
    """
