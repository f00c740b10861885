"""Leases as the histories tell of them: when each was live for sure, and when it may have ended.

A call took effect at some time between its two stamps. All bounds lean to the frontier's side, so
that what is reported is certain: a lease ended no earlier than `earliest_end_ms` says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.chaos.history import Event

INFINITE = float("inf")
FINAL = ("done", "bury")


@dataclass
class Settled:
    """A settlement; ok is None when its answer never came."""

    sent: float
    answered: float
    fate: str
    ok: bool | None


@dataclass
class Grant:
    """One lease of one URL."""

    token: str
    url: str
    worker: str
    sent: float
    answered: float
    renewed: list[float] = field(default_factory=list)
    confirmed: list[float] = field(default_factory=list)
    """When calls were sent that showed it to be live."""
    settled: list[Settled] = field(default_factory=list)
    released: list[float] = field(default_factory=list)
    reaped: float = INFINITE

    def expiry_ms(self, lease_ms: float) -> float:
        """It did not run out before this."""
        return max([self.sent, *self.renewed]) + lease_ms

    def given_up_ms(self) -> float:
        """Its own worker did not end it before this."""
        ends = [s.sent for s in self.settled if s.ok is not False] + self.released
        return min(ends, default=INFINITE)

    def earliest_end_ms(self, lease_ms: float) -> float:
        return min(self.expiry_ms(lease_ms), self.given_up_ms(), self.reaped)


def read_grants(events: Iterable[Event]) -> tuple[list[Grant], int]:
    """All leases, and how many tokens were given out twice."""
    grants: dict[tuple[str, str], Grant] = {}
    reused = 0
    seen: set[str] = set()
    for event in events:
        for token, url in event.fields["granted"] if event.name == "lease" else ():
            reused += token in seen
            seen.add(token)
            grants[event.worker, token] = Grant(
                token, url, event.worker, event.fields["sent"], event.at
            )
    return list(grants.values()), reused


def add_ends(grants: Iterable[Grant], events: Iterable[Event]) -> None:
    """Note what the histories say of each lease's renewals and end."""
    by_key = {(grant.worker, grant.token): grant for grant in grants}
    for event in events:
        if event.name == "reap?":
            for grant in by_key.values():
                if grant.worker == event.fields["of"]:
                    grant.reaped = min(grant.reaped, event.at)
        elif event.name == "renew":
            for token in event.fields["kept"]:
                if grant_kept := by_key.get((event.worker, token)):
                    grant_kept.renewed.append(event.fields["sent"])
                    grant_kept.confirmed.append(event.fields["sent"])
        elif grant_named := by_key.get((event.worker, event.fields.get("token", ""))):
            _add_call(grant_named, event)


def _add_call(grant: Grant, event: Event) -> None:
    fields = event.fields
    if event.name == "settle?":
        grant.settled.append(Settled(event.at, INFINITE, fields["fate"], ok=None))
    elif event.name == "settle":
        mine = next(s for s in grant.settled if s.sent == fields["sent"])
        mine.answered, mine.ok = event.at, fields["ok"]
    elif event.name == "release?":
        grant.released.append(event.at)
    if fields.get("ok"):
        grant.confirmed.append(fields["sent"])
