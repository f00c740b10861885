"""Leads the names of the cases to this machine, for plain Scrapy; the fast engine has a setting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twisted.internet.base import ThreadedResolver
from twisted.internet.defer import Deferred, succeed

if TYPE_CHECKING:
    from collections.abc import Sequence


class Here(ThreadedResolver):
    def getHostByName(self, name: str, timeout: Sequence[int] = (5,)) -> Deferred[Any]:  # noqa: N802
        if name.endswith((".test", "example.com")):
            return succeed("127.0.0.1")
        return super().getHostByName(name, timeout)
