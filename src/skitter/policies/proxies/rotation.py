"""Which proxy a host is asked through, when it is to be the same one from all workers.

Rendezvous hashing: each host has an order of all proxies, and takes the first that can be used. A
proxy that goes moves only its own hosts, and they come back with it.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_HOSTS = 4096


class Ranking:
    """Orders of the same proxies by host, kept for the hosts that are asked for."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(names)
        self._orders: dict[str, list[str]] = {}

    def of(self, host: str) -> list[str]:
        """The proxies for a host, first the one that it should have."""
        order = self._orders.get(host)
        if order is None:
            order = sorted(self._names, key=lambda name: _weight(host, name))
            if len(self._orders) >= MOST_HOSTS:
                self._orders.clear()
            self._orders[host] = order
        return order


def _weight(host: str, name: str) -> bytes:
    return blake2b(f"{host} {name}".encode(), digest_size=8).digest()
