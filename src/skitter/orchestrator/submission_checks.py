"""What a submission says of sinks and gates, checked before its job is made.

Whether a sink can be reached is for the workers to find out: they may be elsewhere.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from skitter.errors import BadGates, MissingExtra, SinkError
from skitter.masking import mask_text
from skitter.service_errors import BadSubmission
from skitter.sinks import open_sink

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skitter.jobs.submission import Submission
    from skitter.settings import Settings

SAID_ELSEWHERE = ("usual", "none")


def submission_checks(settings: Settings) -> list[Callable[[Submission], None]]:
    """The checks that the services make."""
    return [partial(check_sinks, allowed=settings.jobs.sinks), check_gates]


def check_sinks(submission: Submission, *, allowed: Sequence[str]) -> None:
    """Raise BadSubmission for a sink that there is not, or that jobs may not name."""
    for url in submission.sinks:
        try:
            open_sink(url)
        except MissingExtra:
            continue  # workers may have it
        except SinkError as error:
            raise BadSubmission(reason=str(error)) from error
        if allowed and (".." in url or not url.startswith(tuple(allowed))):
            reason = f"its sink {mask_text(url)} is none that jobs may name (jobs.sinks)"
            raise BadSubmission(reason=reason)


def check_gates(submission: Submission) -> None:
    """Raise BadSubmission for gates that there are not."""
    from skitter.validate.gates import Gates  # noqa: PLC0415 - it loads the validation

    gates = submission.gates
    if not gates or gates in SAID_ELSEWHERE:
        return
    try:
        Gates.of(None, {"gates": gates})
    except BadGates as error:
        raise BadSubmission(reason=str(error)) from error
