"""HTTP/1.1 on the wire, the server's half: a head parsed, an answer's head written.

Small because both sides of it are ours: no pipelining beyond a buffer, no chunked uploads, no
continuation lines. What it does not take it refuses with a status that says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urlsplit

HEAD_LIMIT_BYTES = 64 * 1024
BODY_LIMIT_BYTES = 1024 * 1024
METHODS = frozenset({"GET", "HEAD", "POST"})


class BadHead(Exception):
    """A request that cannot be served; it is answered with the status and the connection ends."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(slots=True)
class Request:
    """A request as it came: host without port, target as path and query."""

    method: str
    host: str
    port: str
    target: str
    headers: dict[str, str]
    keep_alive: bool
    body: bytes = b""
    path: str = field(init=False)
    query: str = field(init=False)

    def __post_init__(self) -> None:
        self.path, _, self.query = self.target.partition("?")

    @property
    def body_bytes(self) -> int:
        """How long the body is that follows the head."""
        if "transfer-encoding" in self.headers:
            raise BadHead(411, "send a Content-Length; chunked uploads are not taken")
        text = self.headers.get("content-length", "0")
        if not (text.isascii() and text.isdigit()):
            raise BadHead(400, "Content-Length is not a number")
        if int(text) > BODY_LIMIT_BYTES:
            raise BadHead(413, f"a body may have {BODY_LIMIT_BYTES} bytes")
        return int(text)


def parse_head(head: bytes) -> Request:
    """A request from its head, without the empty line at its end."""
    lines = head.decode("latin-1").split("\r\n")
    try:
        method, target, version = lines[0].split(" ")
    except ValueError:
        raise BadHead(400, "the first line is not: method, target, version") from None
    headers = _headers(lines)
    if method == "CONNECT":
        raise BadHead(501, "the lab speaks plain HTTP and opens no tunnels; ask for http:// URLs")
    if method not in METHODS:
        raise BadHead(405, f"the lab answers {', '.join(sorted(METHODS))}")
    authority, target = _address(target, headers)
    host, _, port = authority.partition(":")
    return Request(
        method=method,
        host=host.lower(),
        port=port,
        target=target,
        headers=headers,
        keep_alive=_keep_alive(version, headers),
    )


def encode_head(status: int, headers: list[tuple[str, str]], *, keep_alive: bool) -> bytes:
    """An answer's head, with the empty line at its end."""
    phrase = HTTPStatus(status).phrase
    lines = [f"HTTP/1.1 {status} {phrase}"]
    lines += [f"{name}: {value}" for name, value in headers]
    if not keep_alive:
        lines.append("Connection: close")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _headers(lines: list[str]) -> dict[str, str]:
    headers = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if not colon:
            raise BadHead(400, "a header line has no colon")
        headers[name.lower()] = value.strip()
    return headers


def _address(target: str, headers: dict[str, str]) -> tuple[str, str]:
    """The authority and the path with query: a proxy's absolute form wins over the Host header."""
    if target.startswith("/"):
        if "host" not in headers:
            raise BadHead(400, "there is no Host header")
        return headers["host"], target
    try:
        parts = urlsplit(target)
    except ValueError:
        raise BadHead(400, "the target is not a URL") from None
    if parts.scheme != "http" or not parts.netloc:
        raise BadHead(400, "the target is neither a path nor an http:// URL")
    path = parts.path or "/"
    return parts.netloc.rpartition("@")[2], f"{path}?{parts.query}" if parts.query else path


def _keep_alive(version: str, headers: dict[str, str]) -> bool:
    wish = headers.get("connection", headers.get("proxy-connection", "")).lower()
    if version == "HTTP/1.0":
        return wish == "keep-alive"
    return wish != "close"
