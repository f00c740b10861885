"""An answer before it goes out: status, headers, body, and how it is to be sent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from skitter.lab.spec import Drip
from skitter.lab.wire import encode_head

Headers = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Answer:
    """What is sent for one request."""

    status: int = 200
    body: bytes = b""
    content_type: str = "text/html; charset=utf-8"
    headers: Headers = ()
    latency_ms: float = 0.0
    drip: Drip | None = None
    pieces: Iterator[bytes] | None = None
    """A body that is made while it is sent, in place of `body`; for the desk's answers only."""
    wire_fault: str = ""
    """reset, truncated or hang: the connection's own ways to fail."""
    trap: bool = False
    _whole: bytes = field(default=b"", repr=False)

    def head(self, *, keep_alive: bool) -> bytes:
        """The head; a 304 has no type and no length."""
        headers = list(self.headers)
        if self.status != 304:
            headers.append(("Content-Type", self.content_type))
            headers.append(self._length())
        return encode_head(self.status, headers, keep_alive=keep_alive)

    def _length(self) -> tuple[str, str]:
        if self.pieces is not None:
            return "Transfer-Encoding", "chunked"
        return "Content-Length", str(len(self.body))

    def whole(self) -> bytes:
        """Head and body for a connection that goes on, made once: what benchmarks hand out."""
        if not self._whole:
            self._whole = self.head(keep_alive=True) + self.body
        return self._whole

    def with_headers(self, *headers: tuple[str, str]) -> Answer:
        """The same answer with further headers."""
        return replace(self, headers=self.headers + headers, _whole=b"")


def text(status: int, message: str) -> Answer:
    """A plain text answer."""
    return Answer(
        status=status, body=f"{message}\n".encode(), content_type="text/plain; charset=utf-8"
    )


def redirect(status: int, location: str) -> Answer:
    """An answer that sends the client elsewhere."""
    return text(status, f"see {location}").with_headers(("Location", location))
