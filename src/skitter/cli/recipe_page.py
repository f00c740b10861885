"""The page that a recipe is tried on: fetched in a turn of its host, or read from a file.

robots.txt is obeyed on each hop of a redirect, and what is fetched counts for the host's pace, so
that to try a recipe while a crawl runs does no harm.
"""

from __future__ import annotations

import os
import socket
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from w3lib.encoding import html_to_unicode

from skitter.errors import BadRequest, PageError
from skitter.extract.document import Document
from skitter.frontier.opening import open_frontier
from skitter.frontier.urls import parse
from skitter.jobs.permitted import MAX_REDIRECTS, REDIRECTS, Answer, PermittedFetcher, open_session
from skitter.policies.identity import robots_agent
from skitter.policies.robots import Robots, RobotsAnswer, origin_of

if TYPE_CHECKING:
    from skitter.frontier import Frontier
    from skitter.settings import Settings


def read_page(path: Path, *, url: str) -> Document:
    """A saved page, as if it had come from this address."""
    try:
        body = path.read_bytes()
    except OSError as error:
        raise PageError(url=path, reason=f"it cannot be read: {error.strerror}") from error
    return Document(url, _decoded("", body))


async def fetch_page(url: str, settings: Settings) -> Document:
    """The page at an address; raises PageError."""
    try:
        target = parse(url).url
    except BadRequest as error:
        raise PageError(url=url, reason=error.reason) from error
    worker = f"recipe-{socket.gethostname()}-{os.getpid()}"
    async with (
        open_frontier(settings, worker=worker, guest=True) as frontier,
        open_session(settings.fetch) as session,
    ):
        fetcher = PermittedFetcher(
            frontier,
            session,
            wait_s=settings.politeness.max_delay_s,
            max_bytes=settings.fetch.max_body_bytes,
            error=PageError,
        )
        return await _Visitor(fetcher, frontier, settings).visit(target)


class _Visitor:
    def __init__(self, fetcher: PermittedFetcher, frontier: Frontier, settings: Settings) -> None:
        self._fetcher = fetcher
        self._settings = settings
        self._robots = Robots(frontier, agent=robots_agent(settings), settings=settings.robots)

    async def visit(self, url: str) -> Document:
        """Follow redirects, each allowed by its site's robots.txt."""
        target = url
        for _ in range(MAX_REDIRECTS + 1):
            await self._check_robots(target)
            body = BytesIO()
            answer = await self._fetcher.ask(target, body)
            if answer.status not in REDIRECTS or not answer.location:
                return _document(target, answer, body.getvalue())
            target = urljoin(target, answer.location)
        raise PageError(url=url, reason=f"it redirects more than {MAX_REDIRECTS} times")

    async def _check_robots(self, url: str) -> None:
        if not self._settings.politeness.robots:
            return
        rules = await self._robots.rules(origin_of(url), fetch=self._read_robots)
        if rules is None:
            raise PageError(url=url, reason="its site's robots.txt cannot be had now")
        if not rules.allows(url):
            raise PageError(url=url, reason="its site's robots.txt forbids it")

    async def _read_robots(self, url: str) -> RobotsAnswer:
        body = BytesIO()
        answer = await self._fetcher.ask(url, body)
        return RobotsAnswer(answer.status, body.getvalue(), answer.location)


def _document(url: str, answer: Answer, body: bytes) -> Document:
    if answer.error or answer.status != 200:
        reason = answer.error or f"its server answers with status {answer.status}"
        raise PageError(url=url, reason=reason)
    return Document(url, _decoded(answer.content_type, body))


def _decoded(content_type: str, body: bytes) -> str:
    """By the header, the page's own words, or else UTF-8 where it is that."""
    return html_to_unicode(content_type, body, auto_detect_fun=_guessed)[1]


def _guessed(body: bytes) -> str:
    try:
        body.decode()
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"
