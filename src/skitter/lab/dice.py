"""Chance that repeats: every number is a function of a seed and of the names it is asked for.

Nothing here has state, so a page of a million-host web costs the same as one of ten, and two
processes with one seed see the same web.
"""

from __future__ import annotations

from hashlib import blake2b
from random import Random

_TWO_TO_64 = float(2**64)


class Dice:
    """A seeded source of numbers, each named by the parts it is rolled for."""

    def __init__(self, seed: int) -> None:
        self._key = blake2b(str(seed).encode(), digest_size=32).digest()

    def number(self, *parts: object) -> int:
        """A 64-bit number that depends on the seed and the parts alone."""
        text = "\x1f".join(map(str, parts)).encode()
        return int.from_bytes(blake2b(text, digest_size=8, key=self._key).digest(), "big")

    def share(self, *parts: object) -> float:
        """A number in [0, 1)."""
        return self.number(*parts) / _TWO_TO_64

    def stream(self, *parts: object) -> Random:
        """Many numbers for one name; only `random()` of it is the same on every Python."""
        return Random(self.number(*parts))


def zipf_rank(share: float, *, count: int, exponent: float) -> int:
    """The rank in [0, count) that a share in [0, 1) falls on: rank r weighs 1 / (r + 1)^exponent.

    The continuous form of the law, inverted: constant time and no table, whatever the count.
    """
    top = count + 1
    if abs(exponent - 1) < 1e-9:
        place = top**share
    else:
        power = 1 - exponent
        place = (1 + share * (top**power - 1)) ** (1 / power)
    return min(int(place) - 1, count - 1)
