"""Bodies in many charsets and codings, whole and broken, and answers that are hardly HTTP."""

from __future__ import annotations

import gzip
import zlib
from typing import TYPE_CHECKING

import brotli  # type: ignore[import-untyped]
from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Iterable

TEXT = "naïve café, Müßiggang €"
BOMB_BYTES = 300_000


def page(text: str = TEXT, *, head: str = "") -> str:
    title = f"<title>{text}</title>"
    return f"<!doctype html><html><head>{head}{title}</head><body><p>{text}</p></body></html>"


def sitemap(element: str, entry: str, urls: Iterable[str]) -> bytes:
    entries = "".join(f"<{entry}><loc>{url}</loc></{entry}>" for url in urls)
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return f'<?xml version="1.0"?><{element} xmlns="{space}">{entries}</{element}>'.encode()


def _deflate(data: bytes) -> bytes:
    """Without zlib's header, as some servers send it."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


_META = '<meta charset="iso-8859-15">'
_OLD_META = '<meta http-equiv="Content-Type" content="text/html; charset=windows-1252">'
_PAGE = page().encode()
_FEED = (
    '<?xml version="1.0" encoding="iso-8859-15"?><feed>'
    + "".join(f"<entry id='{n}'><title>Entry {n}, {TEXT}</title></entry>" for n in range(4))
    + "</feed>"
)
_TABLE = 'id;name;price\r\n1;ink;2,50\r\n2;"paper; white";3,00\r\n3;naïve;0,10\r\n'

BODIES: dict[str, tuple[str, str, bytes]] = {
    # name: content type, content encoding, content
    "charset-header": ("text/html; charset=iso-8859-15", "", page().encode("iso-8859-15")),
    "charset-meta": ("text/html", "", page(head=_META).encode("iso-8859-15")),
    "charset-old-meta": ("text/html", "", page(head=_OLD_META).encode("windows-1252")),
    "charset-bom": ("text/html", "", page().encode("utf-8-sig")),
    "charset-bom-16": ("text/html", "", b"\xff\xfe" + page().encode("utf-16-le")),
    "charset-bom-against-header": (
        "text/html; charset=iso-8859-1",
        "",
        page().encode("utf-8-sig"),
    ),
    "charset-none": ("text/html", "", page().encode()),
    "charset-wrong": ("text/html; charset=utf-8", "", page().encode("iso-8859-15")),
    "charset-unknown": ("text/html; charset=no-such", "", page().encode()),
    "charset-broken": ("text/html; charset=utf-8", "", page().encode() + b"\xff\xc3(\x80"),
    "gzip": ("text/html", "gzip", gzip.compress(_PAGE, mtime=0)),
    "gzip-upper": ("text/html", "GZIP", gzip.compress(_PAGE, mtime=0)),
    "gzip-twice": (
        "text/html",
        "gzip, gzip",
        gzip.compress(gzip.compress(_PAGE, mtime=0), mtime=0),
    ),
    "gzip-members": ("text/html", "gzip", gzip.compress(_PAGE[:50]) + gzip.compress(_PAGE[50:])),
    "gzip-torn": ("text/html", "gzip", gzip.compress(_PAGE * 50, mtime=0)[:-30]),
    "gzip-garbage": ("text/html", "gzip", b"this is not gzip"),
    "gzip-trailing": ("text/html", "gzip", gzip.compress(_PAGE, mtime=0) + b"and more"),
    "gzip-bomb": ("text/html", "gzip", gzip.compress(b"<p>" + b"0" * BOMB_BYTES, mtime=0)),
    "gzip.html": ("text/html", "gzip", gzip.compress(_PAGE, mtime=0)),
    "gzip-meta.html": (
        "text/html",
        "gzip",
        gzip.compress(page(head=_META).encode("iso-8859-15"), mtime=0),
    ),
    "gzip.xml": ("application/xml", "gzip", gzip.compress(_FEED.encode("iso-8859-15"), mtime=0)),
    "gzip.json": ("application/json", "gzip", gzip.compress(b'{"a": "\xc3\xbc"}', mtime=0)),
    "br.html": ("text/html", "br", brotli.compress(_PAGE)),
    "deflate": ("text/html", "deflate", zlib.compress(_PAGE)),
    "deflate-raw": ("text/html", "deflate", _deflate(_PAGE)),
    "br": ("text/html", "br", brotli.compress(_PAGE)),
    "br-bomb": ("text/html", "br", brotli.compress(b"0" * BOMB_BYTES)),
    "zstd": ("text/html", "zstd", zstd.compress(_PAGE)),
    "coding-unknown": ("text/html", "rot13", _PAGE),
    "gzip-file": ("application/gzip", "", gzip.compress(_PAGE, mtime=0)),
    "html": ("text/html", "", _PAGE),
    "xhtml": ("application/xhtml+xml", "", _PAGE),
    "xml": ("application/xml", "", b"<?xml version='1.0'?><a><b>c</b></a>"),
    "rss": ("application/rss+xml", "", b"<?xml version='1.0'?><rss><b>c</b></rss>"),
    "text": ("text/plain", "", b"just text"),
    "json": ("application/json", "", b'{"a": [1, 2, {"b": null}]}'),
    "javascript": ("application/javascript", "", b"var a = 1;"),
    "csv": ("text/csv", "", _TABLE.encode("iso-8859-15")),
    "image": ("image/png", "", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"),
    "octets": ("application/octet-stream", "", bytes(range(256))),
    "octets-html": ("application/octet-stream", "", _PAGE),
    "no-type-html": ("", "", _PAGE),
    "no-type-octets": ("", "", bytes(range(256))),
    "page.xml": ("", "", b"<?xml version='1.0'?><a><b>c</b></a>"),
    "empty": ("text/html", "", b""),
    "feed.xml": ("application/xml", "", _FEED.encode("iso-8859-15")),
    "table.csv": ("text/csv; charset=iso-8859-15", "", _TABLE.encode("iso-8859-15")),
}

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

RAW: dict[str, bytes] = {
    "nothing": b"",
    "not-http": b"good day\r\n\r\n",
    "short": _HEAD + b"Content-Length: 1000\r\n\r\n<h1>short</h1>",
    "short-chunk": _HEAD + b"Transfer-Encoding: chunked\r\n\r\n20\r\n<h1>short</h1>",
    "no-last-chunk": _HEAD + b"Transfer-Encoding: chunked\r\n\r\ne\r\n<h1>short</h1>\r\n",
    "bad-chunk": _HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n<h1>short</h1>\r\n",
    "no-length": _HEAD + b"\r\n<h1>until the end</h1>",
    "http-1.0": b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<h1>old</h1>",
    "head-only": b"HTTP/1.1 200 OK\r\nContent-",
    "no-reason": b"HTTP/1.1 200\r\nContent-Length: 12\r\n\r\n<h1>no</h1>\n",
    "same-header-twice": _HEAD + b"X-One: 1\r\nX-One: 2\r\nContent-Length: 2\r\n\r\nok",
    "no-colon": _HEAD + b"nonsense\r\nContent-Length: 2\r\n\r\nok",
    "length-twice": _HEAD + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\nok",
    "length-and-chunks": _HEAD
    + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    "longer-than-said": _HEAD + b"Content-Length: 2\r\n\r\nok and more",
    "no-content-but-some": b"HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok",
    "many-headers": _HEAD
    + b"".join(b"Set-Cookie: c%d=1\r\n" % number for number in range(200))
    + b"Content-Length: 2\r\n\r\nok",
    "strange-status": b"HTTP/1.1 299 Whatever\r\nContent-Length: 2\r\n\r\nok",
}
