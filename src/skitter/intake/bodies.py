"""A bound on the bytes of bodies in hand, so that big pages make a crawl slow, and not big.

Two gates. No fetch begins while the bodies that are here, and those to be expected of the fetches
under way, fill the bound. And a body that comes while it is full is left in its connection, before
it is read or in mid-body, until there is room for it. One at a time is excused from waiting, so
that each gets through, even one that is larger than the bound.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from skitter.intake.signals import LOOK_AGAIN_S, Change

if TYPE_CHECKING:
    from collections.abc import Callable

STEP = 128 * 1024
"""What a body of unknown length may bring at a time; about what a connection holds unread."""
EXCUSED_S = 5.0
WEIGHT = 1 / 16
FEW = 8


class Bodies:
    """All bodies of a process. on_room is called when a fetch may begin again, after one could not.

    begun_at is when the last one began (monotonic).
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.bytes = 0
        self.begun_at = 0.0
        self.on_room: Callable[[], None] = lambda: None
        self._coming = 0
        self._coming_bytes = 0
        self._typical = 0.0
        self._refused = False
        self._waiting = 0
        self._excused: Body | None = None
        self._excused_at = 0.0
        self._change = Change()

    @property
    def full(self) -> bool:
        """Whether no fetch may begin: what is on its way counts as being as big as most are.

        That is a guess, so a few may always be on their way while bytes that are there leave room.
        """
        expected = self._coming * self._typical if self._coming >= FEW else 0
        full = self.bytes + max(0, expected - self._coming_bytes) >= self.most
        self._refused = self._refused or full
        return full

    def begin(self) -> Body:
        """A fetch begins; whoever calls has looked whether it may."""
        self.begun_at = time.monotonic()
        self._coming += 1
        return Body(self)

    def count(self, body: Body, size: int) -> None:
        """Count a body as so big."""
        more = size - body.counted
        body.counted = size
        self.bytes += more
        if body.coming:
            self._coming_bytes += more
        if more < 0:
            self._freed()

    def here(self, body: Body) -> None:
        """A body comes no more: it is here, or failed."""
        self._coming -= 1
        self._coming_bytes -= body.counted

    def gone(self, body: Body, largest: int) -> None:
        """A body is let go; how big it was says what to expect of others."""
        self._typical += (largest - self._typical) * WEIGHT
        if self._excused is body:
            self._excused = None
        self._freed()

    def excuses(self, body: Body) -> bool:
        """Whether it need not wait: one at a time, and a slow one not for long."""
        now = time.monotonic()
        if self._excused is None or now - self._excused_at > EXCUSED_S:
            self._excused, self._excused_at = body, now
        return self._excused is body

    async def wait(self, condition: Callable[[], bool]) -> None:
        """Wait until a body may go on."""
        self._waiting += 1
        try:
            while not await self._change.until(condition, LOOK_AGAIN_S):
                pass
        finally:
            self._waiting -= 1

    def _freed(self) -> None:
        if self._waiting:
            self._change.tell()
        if self._refused and not self.full:
            self._refused = False
            self.on_room()


class Body:
    """One body, from the beginning of its fetch until it is let go."""

    __slots__ = ("_bodies", "_largest", "_sized", "_wanted", "coming", "counted")

    def __init__(self, bodies: Bodies) -> None:
        self._bodies = bodies
        self.counted = 0
        self.coming = True
        self._largest = 0
        self._wanted = 0
        self._sized = False

    def expect(self, length: int | None) -> None:
        """Its head is there, and says how long it will be."""
        self._sized = length is not None
        self._wanted = STEP if length is None else length

    def received(self, size: int) -> None:
        """So much of it is there."""
        if size > self.counted:
            self._bodies.count(self, size)
        if not self._sized:
            self._wanted = size + STEP

    def crowded(self) -> bool:
        """Whether it should wait before more of it is read; if not, that counts from now on."""
        wanted, bodies = self._wanted, self._bodies
        if wanted <= self.counted:
            return False
        fits = bodies.bytes + wanted - self.counted <= bodies.most
        if not fits and not bodies.excuses(self):
            return True
        bodies.count(self, wanted)
        return False

    async def room(self) -> None:
        """Wait until more of it may be read."""
        await self._bodies.wait(lambda: not self.crowded())

    def arrived(self, size: int) -> None:
        """All that will come is there."""
        self._bodies.count(self, size)
        self._end_coming()

    def hold(self, size: int) -> None:
        """It is bigger or smaller now, for it was unpacked, or others belong to it."""
        self._bodies.count(self, size)

    async def passed_on(self) -> None:
        """Wait until it may be unpacked and worked on."""
        bodies = self._bodies
        if bodies.bytes > bodies.most:
            await bodies.wait(lambda: bodies.bytes <= bodies.most or bodies.excuses(self))

    def let_go(self) -> None:
        """Nobody works on it any more. Twice is the same as once."""
        largest = self.counted
        self._end_coming()
        self._bodies.count(self, 0)
        self._bodies.gone(self, largest)

    def _end_coming(self) -> None:
        if self.coming:
            self._bodies.here(self)
            self.coming = False
