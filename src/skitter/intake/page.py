"""A lease in an engine's hands, and what the engine gathers for it."""

from __future__ import annotations

from asyncio import Lock
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skitter.frontier import Lease, Request, Settlement
    from skitter.intake.bodies import Body
    from skitter.intake.lane import Lane
    from skitter.intake.pacer import Batch
    from skitter.sinks import Item


@dataclass(slots=True, eq=False, weakref_slot=True)
class Page:
    """One leased request. Two pages are equal only if they are the same one.

    children and items are what its engine gathers; `Intake.settle` hands them on. head_at is when
    the head of the last response in its turn arrived (monotonic; 0: nothing was fetched): an engine
    that reads robots.txt in the page's turn sets it. turn_over says that its host was told so.
    gone: another may have the request now. give_back: its job is paused or ended. Both mean that
    nothing more may be sent for it. accepted: it is settled, and its settlement's children are
    queued. body counts what it holds of the room for bodies; stored counts items that were stored
    before it was settled. The fields after these are the intake's own.
    """

    lease: Lease
    lane: Lane
    children: list[Request] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    head_at: float = 0.0
    turn_over: bool = False
    gone: bool = False
    give_back: bool = False
    accepted: bool = False
    body: Body | None = None
    stored: int = 0

    taken: bool = False
    sent: bool = False
    over: bool = False
    batch: Batch | None = None
    settlement: Settlement | None = None
    met: dict[int, int] | None = None
    adding: Lock = field(default_factory=Lock)

    @property
    def request(self) -> Request:
        return self.lease.request

    @property
    def host(self) -> tuple[str, str]:
        """What a pace is kept for: a host, asked from one address."""
        return self.lease.host, self.lease.egress
