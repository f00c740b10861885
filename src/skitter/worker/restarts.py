"""When a process that died is started again. Pure: it is told the time that passed."""

from __future__ import annotations

from dataclasses import dataclass

FIRST_S = 0.1
LONGEST_S, LONGEST_READY_S = 30.0, 2.0
YOUNG_S = 10.0


@dataclass
class Restarts:
    """One place's deaths in a row.

    Waits double with each early death. A child that never got ready will hardly do so the next
    time: it waits longer, and `most` such deaths are the end. One that was ready and then died
    (a page killed it, or the kernel did) is always worth another start.
    """

    most: int
    young: int = 0
    unready: int = 0

    def after(self, lived_s: float, *, ready: bool) -> float | None:
        """How long to wait after a death; None to give the place up."""
        self.young = self.young + 1 if lived_s < YOUNG_S else 0
        self.unready = 0 if ready else self.unready + 1
        if self.unready > self.most:
            return None
        longest = LONGEST_READY_S if ready else LONGEST_S
        return float(min(longest, FIRST_S * 2 ** min(self.young, 20)))
