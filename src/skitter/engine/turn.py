"""The right to ask a host now, whichever way it came: with a lease, or with a permit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from skitter.frontier import Fetch
    from skitter.intake.bodies import Body


@dataclass(slots=True)
class Turn:
    """The right to ask now: what may be sent on it, what counts the bytes, and who is told.

    report hears when the head arrived, or None if nothing was sent. early: at the head already, and
    again in the end.
    """

    body: Body
    may_send: Callable[[], bool]
    report: Callable[[Fetch | None], None]
    early: bool = False
