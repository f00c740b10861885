"""This worker's view of how egresses stand, each as a whole and at hosts that banned it.

The store decides; here is what it said last. After a report an egress waits for the store's answer,
so the view changes at once. One that has failed lately, or whose cool-down is over, is tried with
one request at a time until one succeeds; after a cool-down of the whole egress only the worker
whom the store lets try does so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from skitter.frontier.egresses import Standing

FORGET_S = 3600.0
GRANT_S = 2.0
BUSY_S = 5.0

State = Literal["healthy", "suspect", "cooling", "trial"]


@dataclass(slots=True)
class View:
    """What is known of one egress, or of one at a host; times are of this worker's clock."""

    fails: int = 0
    level: int = 0
    over_at: float = 0.0
    unanswered: int = 0
    """Reports that the store has not answered yet."""
    tried_until: float = 0.0
    """A request is out to try it, until then at most."""
    granted_until: float = 0.0
    """Until when this worker is the one that may try it."""
    heard_at: float = 0.0


class Health:
    """Asks and changes the view; a key is an egress and a host, which is empty for the whole."""

    def __init__(self, *, trial_s: float, now: Callable[[], float]) -> None:
        self._trial_s = trial_s
        self._now = now
        self._views: dict[tuple[str, str], View] = {}
        self._busy_until = 0.0

    def sound(self, egress: str, host: str = "") -> bool:
        """Whether a request may be sent now."""
        view = self._views.get((egress, host))
        if view is None:
            return True
        now = self._now()
        if view.unanswered or now < max(view.over_at, view.tried_until):
            return False
        return bool(host) or not view.level or now < view.granted_until

    def begin(self, egress: str, host: str = "") -> None:
        """A request is being sent: where only one may be out, this is the one."""
        self._busy_until = self._now() + BUSY_S
        view = self._views.get((egress, host))
        if view is not None and (view.fails or view.level):
            view.tried_until = self._now() + self._trial_s

    def note(self, egress: str, host: str = "", *, fine: bool) -> bool:
        """A request came back. Whether the store has to hear of it: what is fine stays so."""
        key = (egress, host)
        if fine and key not in self._views:
            return False
        view = self._views.setdefault(key, View())
        view.unanswered += 1
        view.tried_until = 0.0
        return True

    def undecided(self, egress: str) -> None:
        """A request came back and says nothing of the egress: another one may try it."""
        if view := self._views.get((egress, "")):
            view.tried_until = 0.0

    def answered(self, standing: Standing) -> None:
        """The store's answer to one report."""
        view = self._views.get((standing.egress, standing.host))
        if view is not None:
            view.unanswered -= 1
        self.learn(standing)

    def learn(self, standing: Standing) -> None:
        """How the store says that an egress stands."""
        key = (standing.egress, standing.host)
        view = self._views.setdefault(key, View())
        if standing.left_ms:
            view.granted_until = 0.0
        view.fails, view.level, view.heard_at = standing.fails, standing.level, self._now()
        view.over_at = self._now() + standing.left_ms / 1000 if standing.left_ms else 0.0
        if not (view.fails or view.level or view.unanswered):
            del self._views[key]

    def due(self, egresses: Iterable[str]) -> list[str]:
        """Those to ask the store for, to try them or to go on trying: their cool-down is over.

        A worker that sends nothing lets the others ask first.
        """
        now = self._now()
        late_s = 0.0 if now < self._busy_until else GRANT_S
        views = ((name, self._views.get((name, ""))) for name in egresses)
        return [name for name, view in views if view and view.level and _is_due(view, now, late_s)]

    def grant(self, egress: str) -> None:
        """The store lets this worker try, for a short time unless it asks again."""
        if view := self._views.get((egress, "")):
            view.granted_until = self._now() + GRANT_S

    def left_s(self, egress: str, host: str = "") -> float:
        """How much of a cool-down is left."""
        view = self._views.get((egress, host))
        return max(0.0, view.over_at - self._now()) if view else 0.0

    def state(self, egress: str) -> State:
        """For tables."""
        view = self._views.get((egress, ""))
        if view is None:
            return "healthy"
        if self._now() < view.over_at:
            return "cooling"
        return "trial" if view.level else "suspect"

    def view(self, egress: str) -> View:
        return self._views.get((egress, ""), View())

    def bans(self) -> Iterator[tuple[str, str]]:
        """Egress and host, where one is banned now."""
        now = self._now()
        return (key for key, view in self._views.items() if key[1] and now < view.over_at)

    def forget_old(self) -> None:
        """The store forgets by itself, and so must we."""
        now = self._now()
        old = [
            key
            for key, view in self._views.items()
            if not view.unanswered and now > max(view.over_at, view.heard_at) + FORGET_S
        ]
        for key in old:
            del self._views[key]


def _is_due(view: View, now: float, late_s: float) -> bool:
    """The one who tries asks again and again, as long as its request is out."""
    waits = now >= view.over_at + late_s and now >= view.granted_until
    return waits or now < view.tried_until
