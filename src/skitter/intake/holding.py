"""All that one process holds of the frontier: pages, permits, and what waits to be flushed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skitter.intake.bodies import Bodies
from skitter.intake.bounds import Bounds, IntakeStats
from skitter.intake.page import Page
from skitter.intake.signals import Change

if TYPE_CHECKING:
    from skitter.frontier import Frontier, Lease, Permit

SHORT_LEASE_SHARE = 0.1


class Holding:
    """The leases and permits of a process, and whether it may send on them.

    A page stays here, and is renewed, until its settlement has been accepted. The margin before
    the end of a lease in which nothing is sent is a tenth of a short one.
    """

    def __init__(self, frontier: Frontier, *, bounds: Bounds, margin_s: float) -> None:
        self.bounds = bounds
        self.stats = IntakeStats()
        self.pages: dict[str, Page] = {}
        self.permits: dict[str, Permit] = {}
        self.lost_permits: set[str] = set()
        self.unflushed: dict[Page, None] = {}
        self.children = 0
        self.items = 0
        self.bodies = Bodies(bounds.body_bytes)
        self.change = Change()
        self._frontier = frontier
        self._margin_ms = 1000 * margin_s

    @property
    def in_hand(self) -> int:
        """How many pages are not settled yet."""
        return len(self.pages) - len(self.unflushed)

    @property
    def untaken(self) -> list[Page]:
        """Pages that no engine has seen, in the order in which they came."""
        return [page for page in self.pages.values() if not page.taken]

    @property
    def over_bounds(self) -> bool:
        """Whether more waits to be flushed than may."""
        return (
            len(self.unflushed) >= self.bounds.unflushed
            or self.children >= self.bounds.children
            or self.items >= self.bounds.items
        )

    def drop(self, page: Page) -> None:
        """Let go of a page: it is settled, handed back or gone."""
        page.over = True
        if self.pages.pop(page.lease.token, None):
            self.change.tell()

    def fresh(self, lease: Lease | Permit) -> bool:
        """Whether the last confirmed renewal is young enough to send on it."""
        margin_ms = min(self._margin_ms, SHORT_LEASE_SHARE * self._frontier.config.lease_ms)
        return self._frontier.fresh(lease, margin_ms=margin_ms)

    def may_send(self, held: Page | Permit) -> bool:
        """Whether its host may be asked on it now."""
        if isinstance(held, Page):
            return not (held.gone or held.give_back or held.over) and self.fresh(held.lease)
        return held.token not in self.lost_permits and self.fresh(held)
