"""Cookie jars that hold on every worker: a login made here counts wherever the next page is asked.

A jar is kept by the frontier, by job, jar (`meta["cookiejar"]`) and registered domain. When a
response changes it, it is written before the page's children are, and they carry a mark of that
change; a worker that meets a mark it does not know reads the jar anew. Pages of sites without
cookies carry no mark, and nothing is read or written for them.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scrapy.downloadermiddlewares.cookies import CookiesMiddleware
from scrapy.http.cookies import CookieJar
from scrapy.utils.httpobj import urlparse_cached

from skitter.engine.cookie_forms import changes, from_stored, snapshot
from skitter.engine.crawl import Crawl
from skitter.engine.visit import current
from skitter.frontier.urls import registered_domain

if TYPE_CHECKING:
    from scrapy import Request as ScrapyRequest
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from skitter.frontier import Cookie

KEPT_JARS = 5_000
KEPT_MARKS = 64


@dataclass(slots=True)
class Jar:
    """A jar of one job for one domain, and the marks of the states that it has taken over."""

    job: str
    name: str
    host: str
    cookies: CookieJar = field(default_factory=CookieJar)
    marks: OrderedDict[str, None] = field(default_factory=OrderedDict)

    def knows(self, mark: str) -> bool:
        """Whether the state that a mark names is in it."""
        return not mark or mark in self.marks

    def note(self, mark: str) -> None:
        """It is in it now."""
        self.marks[mark] = None
        if len(self.marks) > KEPT_MARKS:
            self.marks.popitem(last=False)


class Cookies(CookiesMiddleware):
    """Stands where Scrapy's own stood."""

    crawler: Crawler

    def __init__(self, debug: bool = False) -> None:  # noqa: FBT001, FBT002 - Scrapy's signature
        super().__init__(debug)
        self._jars: OrderedDict[tuple[str, str, str], Jar] = OrderedDict()

    async def process_request(  # type: ignore[override]  # Scrapy takes coroutines too
        self,
        request: ScrapyRequest,
        spider: Any = None,  # noqa: ARG002 - Scrapy's signature
    ) -> None:
        """Set the Cookie header."""
        if request.meta.get("dont_merge_cookies", False):
            return
        dict.pop(request.headers, b"Cookie", None)
        mark = self._mark()
        if not (mark or request._cookies or self._jars):  # noqa: SLF001 - most pages of most sites
            return
        jar = self._jar(request)
        if not jar.knows(mark):
            await self._read(jar)
            jar.note(mark)
        if request.cookies:
            before = snapshot(jar.cookies)
            given = self._get_request_cookies(jar.cookies, request)
            self._process_cookies(given, jar=jar.cookies, request=request)
            await self._write(jar, before)
        if len(jar.cookies):
            jar.cookies.add_cookie_header(request)
            self._debug_cookie(request)

    async def process_response(  # type: ignore[override]  # the same
        self,
        request: ScrapyRequest,
        response: Response,
        spider: Any = None,  # noqa: ARG002
    ) -> Response:
        """Take over what the response sets."""
        if "Set-Cookie" in response.headers and not request.meta.get("dont_merge_cookies", False):
            jar = self._jar(request)
            before = snapshot(jar.cookies)
            made = jar.cookies.make_cookies(response, request)
            self._process_cookies(made, jar=jar.cookies, request=request)
            self._debug_set_cookie(response)
            await self._write(jar, before)
        return response

    def _jar(self, request: ScrapyRequest) -> Jar:
        """The jar of a request; those used longest ago are read again when they are needed."""
        visit = current()
        job = visit.job if visit else self._crawl.job
        host = urlparse_cached(request).hostname or ""
        named = request.meta.get("cookiejar")  # None, as it is often handed on, names none
        key = (job, "" if named is None else str(named), registered_domain(host))
        jar = self._jars.get(key)
        if jar is None:
            jar = self._jars[key] = Jar(job, key[1], key[2])
            if len(self._jars) > KEPT_JARS:
                self._jars.popitem(last=False)
        else:
            self._jars.move_to_end(key)
        return jar

    async def _read(self, jar: Jar) -> None:
        stored = await self._crawl.process.frontier.cookies.get(jar.job, jar.host, jar=jar.name)
        kept = CookieJar()
        for cookie in stored:
            kept.set_cookie(from_stored(cookie))
        jar.cookies = kept

    async def _write(self, jar: Jar, before: dict[tuple[str, str, str], Cookie]) -> None:
        """Keep what changed, and mark the visit: its children need this state."""
        changed, gone = changes(before, snapshot(jar.cookies))
        if not (changed or gone) or not jar.job:
            return
        jars = self._crawl.process.frontier.cookies
        await jars.put(jar.job, jar.host, changed, gone=gone, jar=jar.name)
        mark = secrets.token_urlsafe(6)
        jar.note(mark)
        visit = current()
        if visit:
            visit.mark = mark

    @staticmethod
    def _mark() -> str:
        visit = current()
        return visit.mark if visit else ""

    @property
    def _crawl(self) -> Crawl:
        return Crawl.of(self.crawler)
