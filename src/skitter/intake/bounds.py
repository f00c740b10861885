"""How much a process may hold, and what it holds and did."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """The most that one process takes and keeps in memory.

    in_hand counts leases whose page is not settled yet: those taken by an engine, those due, and
    those that wait for their host's pace. A host's batch is about five seconds' worth, so a polite
    crawl at a second's delay has a fifth of in_hand hosts at work. prefetch counts those that are
    due and that no engine has taken (a lane that has none may still get one). children, items and
    unflushed are about what waits to be flushed: those of settled pages, and settlements.
    body_bytes is for the bodies of all pages that are not settled.
    """

    in_hand: int = 64
    prefetch: int = 32
    children: int = 5_000
    items: int = 5_000
    unflushed: int = 500
    body_bytes: int = 64 * 1024**2


@dataclass(slots=True)
class IntakeStats:
    """What the process holds now, and what became of its leases since it started.

    settled counts all settlements that were accepted, retried and buried ones too; refused those
    whose lease was gone; released the requests handed back untouched. hungry says whether the last
    question for work found less than there was room for.
    """

    in_hand: int = 0
    prefetched: int = 0
    children: int = 0
    items: int = 0
    settlements: int = 0
    body_bytes: int = 0
    leased: int = 0
    settled: int = 0
    retried: int = 0
    buried: int = 0
    refused: int = 0
    released: int = 0
    hungry: bool = False
