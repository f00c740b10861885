"""Seeds from a sitemap by URL or file, with the indexes followed, bounded in depth and number."""

from __future__ import annotations

import asyncio
from collections import deque
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING

from skitter.errors import SitemapError
from skitter.jobs.seeds import Defaults, Seed, seed_of_line
from skitter.jobs.sitemaps import Entry, read_sitemap

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterator

    from skitter.jobs.permitted import PermittedFetcher

MAX_DEPTH = 3
MAX_SITEMAPS = 50_000
IN_MEMORY = 1 << 20


class SitemapSource:
    """Reads sitemaps, each once; those in an index after it, breadth first."""

    def __init__(self, fetcher: PermittedFetcher, defaults: Defaults) -> None:
        self._fetcher = fetcher
        self._defaults = defaults
        self._known: set[str] = set()
        self._waiting: deque[tuple[str, int]] = deque()

    async def seeds(self, location: str) -> AsyncGenerator[list[Seed], None]:
        """The pages of a sitemap and of all that it leads to; a failure is a seed with a reason."""
        self._note(location, 0)
        while self._waiting:
            place, depth = self._waiting.popleft()
            number = 0
            try:
                async for entries in self._read(place):
                    yield list(self._sorted(place, entries, first=number + 1, depth=depth))
                    number += len(entries)
            except SitemapError as error:
                yield [Seed(place, 0, reason=f"sitemap: {error.reason}", text=error.url)]

    async def _read(self, place: str) -> AsyncIterator[list[Entry]]:
        """The entries of one sitemap. Files are read, and XML is parsed, in a thread."""
        with await self._opened(place) as file:
            groups = await asyncio.to_thread(read_sitemap, file, url=place)
            while (entries := await asyncio.to_thread(next, groups, None)) is not None:
                yield entries

    async def _opened(self, place: str) -> IO[bytes]:
        if is_url(place):
            file: IO[bytes] = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - closed by its user
            try:
                await self._fetcher.fetch(place, file)
            except BaseException:
                file.close()
                raise
            file.seek(0)
            return file
        try:
            return await asyncio.to_thread(Path(place).open, "rb")
        except OSError as error:
            reason = f"it cannot be read: {error.strerror}"
            raise SitemapError(url=place, reason=reason) from error

    def _sorted(
        self, place: str, entries: list[Entry], *, first: int, depth: int
    ) -> Iterator[Seed]:
        """Pages are seeds; sitemaps wait for their turn, unless there is a reason against it."""
        for number, entry in enumerate(entries, first):
            if not entry.is_sitemap:
                yield seed_of_line(entry.url, self._defaults, source=place, number=number)
                continue
            reason = self._note(entry.url, depth + 1)
            if reason:
                yield Seed(place, number, reason=reason, text=entry.url)

    def _note(self, location: str, depth: int) -> str:
        """Remember a sitemap to be read; why it is not, or an empty text."""
        if location in self._known:
            return ""
        if depth > MAX_DEPTH:
            return f"sitemap: it lies more than {MAX_DEPTH} indexes deep"
        if len(self._known) >= MAX_SITEMAPS:
            return f"sitemap: there are more than {MAX_SITEMAPS}"
        self._known.add(location)
        self._waiting.append((location, depth))
        return ""


def is_url(location: str) -> bool:
    """Whether a sitemap is to be fetched; else it is a file."""
    return "://" in location
