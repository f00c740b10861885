"""What a sitemap says: the pages in it, or the sitemaps of an index.

XML or plain text, packed with gzip or not. It is read piece by piece, bounded in size after
unpacking and in the depth of its elements; it may declare no entities. What was found before an
error stands.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import chain
from typing import IO, Any, NamedTuple
from xml.parsers import expat

from skitter.errors import SitemapError
from skitter.jobs.seed_files import Lines

MAX_BYTES = 50 << 20  # by sitemaps.org's protocol, unpacked
LONGEST_URL = 8192
DEEPEST = 16
CHUNK = 1 << 16
_GZIP = b"\x1f\x8b"
_ROOTS = ("urlset", "sitemapindex")
_LOCATIONS = {("url", "loc"): False, ("sitemap", "loc"): True}


class Entry(NamedTuple):
    """A page's URL, or that of another sitemap."""

    url: str
    is_sitemap: bool


def read_sitemap(file: IO[bytes], *, url: str) -> Iterator[list[Entry]]:
    """The entries of a sitemap, in groups; raises SitemapError where it cannot be read on."""
    chunks = _bounded(_unpacked(file, url), url)
    first = next(chunks, b"")
    start = first.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    kind = _read_xml if start in (b"<", b"\xff", b"\xfe") else _read_text
    return kind(chain([first], chunks), url)


def _unpacked(file: IO[bytes], url: str) -> Iterator[bytes]:
    first = file.read(CHUNK)
    pieces = chain([first], iter(lambda: file.read(CHUNK), b""))
    if not first.startswith(_GZIP):
        yield from pieces
        return
    try:
        yield from _unzipped(pieces)
    except (zlib.error, EOFError) as error:
        raise SitemapError(url=url, reason=f"its gzip is broken: {error}") from error


def _unzipped(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The content of gzip members, one after the other, with zeros after them passed over."""
    unpacker, begun = zlib.decompressobj(wbits=31), False
    for piece in pieces:
        data = piece
        while data := data if begun else data.lstrip(b"\0"):
            yield unpacker.decompress(data, CHUNK)
            data, begun = unpacker.unconsumed_tail, True
            if unpacker.eof:
                data = unpacker.unused_data
                unpacker, begun = zlib.decompressobj(wbits=31), False
    yield unpacker.flush()
    if begun and not unpacker.eof:
        raise EOFError("it ends too early")


def _bounded(chunks: Iterator[bytes], url: str) -> Iterator[bytes]:
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > MAX_BYTES:
            reason = f"it is longer than {MAX_BYTES >> 20} MiB unpacked"
            raise SitemapError(url=url, reason=reason)
        if chunk:
            yield chunk


def _read_text(chunks: Iterator[bytes], url: str) -> Iterator[list[Entry]]:
    """One URL on each line; what is no URL is found out when it is pushed."""
    lines = Lines(LONGEST_URL)
    for found in chain(map(lines.split, chunks), [lines.end()]):
        entries = [_text_entry(line) for _, line in found if line]
        if any("\0" in entry.url for entry in entries):
            raise SitemapError(url=url, reason="it is neither XML nor text")
        yield entries


def _text_entry(line: bytes) -> Entry:
    return Entry(line.decode("utf-8", "replace"), is_sitemap=False)


def _read_xml(chunks: Iterator[bytes], url: str) -> Iterator[list[Entry]]:
    reader = _XmlReader(url)
    for chunk in chunks:
        yield from reader.feed(chunk)
    yield from reader.feed(b"", last=True)


class _XmlReader:
    """Follows the elements and keeps the text of each location."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._path: list[str] = []
        self._text: list[str] | None = None
        self._length = 0
        self._found: list[Entry] = []
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._data
        self._parser.EntityDeclHandler = self._entity

    def feed(self, chunk: bytes, *, last: bool = False) -> Iterator[list[Entry]]:
        """Read on; what was found before an error is given before the error is raised."""
        trouble = None
        try:
            self._parser.Parse(chunk, last)
        except expat.ExpatError as error:
            reason = f"its XML is broken: {expat.ErrorString(error.code)}"
            trouble = SitemapError(url=self._url, reason=reason)
        except SitemapError as error:
            trouble = error
        found, self._found = self._found, []
        yield found
        if trouble:
            raise trouble

    def _start(self, name: str, _attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2].lower()
        if not self._path and local not in _ROOTS:
            self._refuse(f"its first element is <{local[:40]}>, not <urlset> or <sitemapindex>")
        self._path.append(local)
        if len(self._path) > DEEPEST:
            self._refuse("its elements are nested too deeply")
        self._text = [] if tuple(self._path[-2:]) in _LOCATIONS else None
        self._length = 0

    def _data(self, text: str) -> None:
        self._length += len(text)
        if self._text is not None and self._length <= LONGEST_URL:
            self._text.append(text)

    def _end(self, _name: str) -> None:
        if self._text is not None and (text := "".join(self._text).strip()):
            is_sitemap = _LOCATIONS[self._path[-2], self._path[-1]]
            self._found.append(Entry(text, is_sitemap))
        self._text = None
        self._path.pop()

    def _entity(self, *_: Any) -> None:
        self._refuse("it declares entities")

    def _refuse(self, reason: str) -> None:
        raise SitemapError(url=self._url, reason=reason)
