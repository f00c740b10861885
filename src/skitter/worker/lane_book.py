"""Which lanes a process has open, and which it should open or close. Pure: it is told the time.

A lane is open while it has work, and for a while after. When there are more lanes with work than
may be open, those without make room at once, and one that was open long goes for one that waits:
none starves. A lane that could not be opened is tried again after a wait that doubles.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

State = Literal["opening", "open", "closing"]

FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 60.0
BRIEF_S = 5.0


@dataclass(slots=True)
class Entry:
    """A lane that is not closed."""

    state: State
    since: float
    worked_at: float


@dataclass(slots=True)
class Trouble:
    """A lane that could not be opened, or ended by itself."""

    error: str
    times: int
    until: float


@dataclass(slots=True)
class Moves:
    """What is to be done now."""

    open: list[str] = field(default_factory=list)
    close: list[str] = field(default_factory=list)


class LaneBook:
    """One process's lanes. Whoever opens and closes them says so here."""

    def __init__(self, *, most: int, idle_s: float) -> None:
        self._most = most
        self._idle_s = idle_s
        self.lanes: dict[str, Entry] = {}
        self.troubles: dict[str, Trouble] = {}

    def look(self, now: float, *, ready: Mapping[str, int], busy: Collection[str]) -> Moves:
        """What to do, given the ms until each lane has work, and the lanes with work in hand.

        What is to be opened counts as opening from here, and what is to be closed as closing.
        """
        due = {lane for lane, wait_ms in ready.items() if wait_ms <= self._idle_s * 1000}
        for lane, entry in self.lanes.items():
            if lane in due or lane in busy:
                entry.worked_at = now
        waiting = [lane for lane in sorted(due, key=ready.__getitem__) if self._may_open(lane, now)]
        moves = Moves(close=self._to_close(now, waiting=len(waiting)))
        for lane in moves.close:
            self.lanes[lane].state = "closing"
        moves.open = waiting[: max(0, self._most - len(self.lanes))]
        for lane in moves.open:
            self.lanes[lane] = Entry("opening", since=now, worked_at=now)
        return moves

    def opened(self, lane: str, now: float) -> None:
        """A lane that was opening is open."""
        entry = self.lanes.get(lane)
        if entry and entry.state == "opening":
            entry.state, entry.since = "open", now

    def closed(self, lane: str, now: float) -> None:
        """A lane is closed. One that ended by itself too soon is not opened again at once."""
        entry = self.lanes.pop(lane, None)
        if entry and entry.state != "closing" and now - entry.since < BRIEF_S:
            self._note(lane, now, error="the crawler ended by itself")
        elif entry:
            self.troubles.pop(lane, None)

    def failed(self, lane: str, now: float, *, error: str) -> None:
        """A lane could not be opened, or failed while it was open."""
        self.lanes.pop(lane, None)
        self._note(lane, now, error=error)

    def forget(self, known: Collection[str]) -> None:
        """Troubles of lanes that no live job has are over."""
        self.troubles = {k: v for k, v in self.troubles.items() if k in known}

    def _may_open(self, lane: str, now: float) -> bool:
        trouble = self.troubles.get(lane)
        return lane not in self.lanes and (trouble is None or trouble.until <= now)

    def _to_close(self, now: float, *, waiting: int) -> list[str]:
        rows = [(entry.worked_at, entry.since, lane) for lane, entry in self.lanes.items()
                if entry.state == "open"]  # fmt: skip
        closing = [lane for worked_at, _, lane in rows if now - worked_at >= self._idle_s]
        short = waiting - (self._most - len(self.lanes)) - len(closing)
        if short <= 0:
            return closing
        idle = sorted(row for row in rows if row[0] < now and row[2] not in closing)
        closing += [lane for _, _, lane in idle[:short]]
        if not closing and rows:
            since, lane = min((since, lane) for _, since, lane in rows)
            closing = [lane] if now - since >= self._idle_s else []
        return closing

    def _note(self, lane: str, now: float, *, error: str) -> None:
        times = self.troubles[lane].times + 1 if lane in self.troubles else 1
        wait_s = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** min(times - 1, 20))
        self.troubles[lane] = Trouble(error, times, now + wait_s)
