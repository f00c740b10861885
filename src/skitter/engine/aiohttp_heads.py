"""Heads of answers that aiohttp refuses, and browsers and Scrapy read.

Lines without a colon; a length that is said twice, or beside chunks; more bytes than the length
says. Nothing is looked at until aiohttp's parser refuses a head: what came of it is then mended
and parsed once more, and its connection is not used again. What is wrong in another way stays
refused.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import HttpProcessingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import aiohttp

LONGEST_HEAD = 1 << 16
WITHOUT_BODY = (b"204", b"304")
_END = b"\r\n\r\n"
_NOTHING: tuple[tuple[()], bool, bytes] = ((), False, b"")
_is_status = re.compile(rb"HTTP/1\.[01] +(\d{3})(?: .*)?").fullmatch


def read_odd_heads(connector: aiohttp.BaseConnector) -> None:
    """Have the connections of a connector do so; there is no public way to say this."""
    private: Any = connector
    private._factory = partial(_Protocol, loop=private._loop)  # noqa: SLF001


class _Protocol(ResponseHandler):
    """A connection."""

    _parser: Any

    def set_response_params(self, **params: Any) -> None:
        """A new answer is to come."""
        super().set_response_params(**params)
        if self._parser is not None:
            self._parser = _Heads(self, self._parser, params)

    def use(self, parser: Any) -> None:
        """The head is read: what follows goes to the parser itself."""
        self._parser = parser

    def parser_anew(self, params: dict[str, Any]) -> Any:
        """One that has seen nothing yet."""
        super().set_response_params(**params)
        return self._parser

    @property
    def is_bodiless(self) -> bool:
        """Whether no body is to come, whatever the head says."""
        return self._skip_payload


class _Heads:
    """Stands before aiohttp's parser until a head is read."""

    __slots__ = ("_error", "_params", "_parser", "_protocol", "_seen")

    def __init__(self, protocol: _Protocol, parser: Any, params: dict[str, Any]) -> None:
        self._protocol = protocol
        self._parser = parser
        self._params = params
        self._seen = b""
        self._error: HttpProcessingError | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._parser, name)

    def feed_data(self, data: bytes) -> Any:
        """As the parser takes it."""
        self._seen += data
        try:
            if self._error:
                raise self._error
            found = self._parser.feed_data(data)
        except HttpProcessingError as error:
            self._error = error
            return self._again()
        if found[0]:
            self._protocol.use(self._parser)
        return found

    def _again(self) -> Any:
        assert self._error is not None  # noqa: S101 - that is why
        head, end, body = self._seen.partition(_END)
        lines = head.split(b"\r\n")
        status = _is_status(lines[0])
        if status is None or len(head) > LONGEST_HEAD:
            raise self._error
        if not end:  # the rest of the head is on its way
            return _NOTHING
        bodiless = self._protocol.is_bodiless or status[1] in WITHOUT_BODY
        mended = _mended(lines, body, bodiless=bodiless)
        if mended is None or mended == self._seen:
            raise self._error
        parser = self._protocol.parser_anew(self._params)
        self._protocol.force_close()
        return parser.feed_data(mended)


def _mended(lines: list[bytes], body: bytes, *, bodiless: bool) -> bytes | None:
    """The answer as it is meant; None if that is not to be known."""
    kept = [line for line in lines[1:] if b":" in line or line[:1] in {b" ", b"\t"}]
    is_chunked = any(b"chunked" in value.lower() for value in _values(kept, b"transfer-encoding"))
    lengths = _values(kept, b"content-length")
    if lengths:
        kept = [line for line in kept if _name(line) != b"content-length"]
    if lengths and not is_chunked:
        length, *others = {one.strip() for value in lengths for one in value.split(b",")}
        if others or not length.isdigit():
            return None
        kept.append(b"Content-Length: " + length)
        body = body[: int(length)]
    return b"\r\n".join([lines[0], *kept]) + _END + (b"" if bodiless else body)


def _values(lines: Sequence[bytes], name: bytes) -> list[bytes]:
    return [line.partition(b":")[2] for line in lines if _name(line) == name]


def _name(line: bytes) -> bytes:
    return line.partition(b":")[0].strip().lower()
