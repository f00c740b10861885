"""The URLs that are added: hosts chosen evenly or by Zipf's law, paths as shops have them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from skitter.frontier import Request

if TYPE_CHECKING:
    from collections.abc import Iterator

Spread = Literal["even", "zipf", "each"]


@dataclass
class Web:
    """Requests of one job. `known` is the share of those that were made before.

    even: every host as likely as any other; zipf: the n-th host n times less likely than the first;
    each: one host after the other, so that `hosts` requests meet every host once.
    """

    job: str
    hosts: int
    spread: Spread = "even"
    known: float = 0.0
    prefix: str = "shop"
    rng: random.Random = field(default_factory=lambda: random.Random(1))
    made: list[str] = field(default_factory=list)
    count: int = 0

    def batches(self, total: int, *, size: int) -> Iterator[list[Request]]:
        """`total` requests in batches."""
        for first in range(0, total, size):
            urls = [self._next() for _ in range(min(size, total - first))]
            yield [Request(self.job, url) for url in urls]

    def _next(self) -> str:
        if self.known and self.made and self.rng.random() < self.known:
            return self.rng.choice(self.made)
        url = self.url(self.count)
        self.count += 1
        if self.known:
            self.made.append(url)
        return url

    def url(self, number: int) -> str:
        host = self._host()
        path = f"/category-{number % 37}/product-name-{number}.html"
        return f"https://{self.prefix}{host:07d}.example.com{path}"

    def _host(self) -> int:
        if self.spread == "each":
            return self.count % self.hosts
        if self.spread == "even":
            return self.rng.randrange(self.hosts)
        return int(self.hosts ** self.rng.random()) - 1
