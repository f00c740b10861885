"""The web of a frontier round, from its seed alone: what is linked, how hosts want to be asked, and
what becomes of each URL. So the whole set that must be settled is known before the round begins.

A tree of pages with links back to pages met before. Some fail once, and some leaves for good.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Literal

Fate = Literal["done", "retry", "bury"]

HOSTS = 12
SLOW_MS = 120.0
_POLICIES = ((0, 2), (0, 3), (30, 1), (30, 1), (60, 1), (500, 1))
# Slow hosts get few pages, so that a round is as long as its faults and not longer.
_WEIGHTS = (8, 8, 6, 6, 4, 1)


@dataclass(frozen=True)
class TinyWeb:
    """`pages` pages on twelve hosts; page 0 is the seed."""

    seed: int
    pages: int = 140
    fan: int = 3

    @cached_property
    def hosts(self) -> list[str]:
        """The host of each page."""
        roll = Random(self.seed)
        weights = [_WEIGHTS[n % len(_WEIGHTS)] for n in range(HOSTS)]
        return [f"h{n}.test" for n in roll.choices(range(HOSTS), weights, k=self.pages)]

    @cached_property
    def numbers(self) -> dict[str, int]:
        return {self.url(number): number for number in range(self.pages)}

    def url(self, number: int) -> str:
        return f"http://{self.hosts[number]}/{number}"

    def children(self, url: str) -> list[str]:
        """Its own children, and a link back that must be known already or become so once."""
        number = self.numbers[url]
        first = number * self.fan + 1
        own = range(first, min(first + self.fan, self.pages))
        return [self.url(child) for child in own] + [self.url(number // 2)]

    def fate(self, url: str, *, attempts: int) -> Fate:
        number = self.numbers[url]
        if number % 11 == 3 and attempts == 0:
            return "retry"
        leaf = number * self.fan + 1 >= self.pages
        return "bury" if leaf and number % 13 == 7 else "done"

    def latency_ms(self, url: str) -> float:
        """Long where hosts are slow: there clients are often killed while they wait for it."""
        number = self.numbers[url]
        slow = self.policy(self.hosts[number])[0] > 100
        return SLOW_MS if slow else 2.0 + number % 9

    @staticmethod
    def policy(host: str) -> tuple[int, int]:
        """Delay in ms and concurrency."""
        return _POLICIES[int(host[1:].partition(".")[0]) % len(_POLICIES)]

    @staticmethod
    def all_hosts() -> list[str]:
        return [f"h{n}.test" for n in range(HOSTS)]
