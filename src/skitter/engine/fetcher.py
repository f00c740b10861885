"""How a page is fetched: one small contract, so that HTTP libraries can be tried in turn.

A fetcher sends one request once. It follows no redirect, keeps no cookie, decompresses nothing and
never sends again by itself. What goes wrong is one of Scrapy's download exceptions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


SAYS_EMPTY = ("POST", "PUT")
"""Methods that say so when they have no body: `Content-Length: 0`."""


def always() -> bool:
    """For whoever needs nobody's leave."""
    return True


@dataclass(slots=True)
class Asked:
    """What is to be sent. url is sent as it is written; headers are in their order.

    The length of a body is not among them. A line break or a null byte in one is a ValueError.
    proxy is a URL with its credentials. may_send is asked when there is a connection, right before
    the first byte: False, and nothing is sent.
    """

    method: str
    url: str
    headers: Sequence[tuple[str, str]]
    body: bytes = b""
    timeout_s: float = 180.0
    proxy: str = ""
    may_send: Callable[[], bool] = always


@dataclass(slots=True)
class Answer:
    """What came: the head as it was written, and the body as it was sent."""

    status: int
    body: bytes
    address: str = ""
    protocol: str = "HTTP/1.1"
    certificate: Any = None
    flags: list[str] = field(default_factory=list)


class Reception(Protocol):
    """Hears of an answer as it comes. False: that is enough, give what is there."""

    watches_body: bool
    keeps_torn: bool
    """Whether a body that was cut off is given, with the flag `dataloss`, and is no failure."""

    def head(self, status: int, headers: Sequence[tuple[bytes, bytes]]) -> bool:
        """The head is there; raises if the answer is not wanted."""

    def part(self, data: bytes, received: int) -> bool:
        """Some of the body is there, and so many bytes in all; raises if they are too many."""

    def crowded(self) -> bool:
        """Whether to wait for `room` before more of the body is read; asked before each part."""

    async def room(self) -> None:
        """Return when more may be read. The request's time does not run meanwhile."""


class Fetcher(Protocol):
    """A way to fetch."""

    async def fetch(self, asked: Asked, reception: Reception) -> Answer:
        """Send one request, and give its answer; raises NotSent if it may not be sent."""

    async def close(self) -> None:
        """Close all connections."""
