"""From a request to its answer: the map, with time and attempts added.

The only state is how often each faulty URL was tried, which version of the demo sites is
served, and pages rendered beforehand. A page rendered beforehand is handed out as it is: no
fault, latency, drip, cookie, edition or compression, for a benchmark measures its client and not
the lab's mischief.
"""

from __future__ import annotations

import gzip
import time
from collections import Counter
from email.utils import formatdate, parsedate_to_datetime
from hashlib import blake2b
from typing import TYPE_CHECKING

from skitter.lab import render
from skitter.lab.answer import Answer, redirect, text
from skitter.lab.demos import sitemap_answer
from skitter.lab.extras import Extras, cookies_of, ordered_fault
from skitter.lab.places import Place, Places

if TYPE_CHECKING:
    from collections.abc import Callable

    from skitter.lab.demos import DemoSite
    from skitter.lab.spec import Fault
    from skitter.lab.web import Link, Web
    from skitter.lab.wire import Request

FIRST_EDITION_S = 1_767_225_600.0
"""When pages that never change were last modified: 1 January 2026."""


class Site:
    """All hosts of a web, behind one door."""

    def __init__(
        self, web: Web, *, prerender: int = 0, now_s: Callable[[], float] = time.time
    ) -> None:
        self.web = web
        self.version = web.spec.version
        self._now_s = now_s
        self._places = Places(web)
        self._extras = Extras(web)
        self._attempts: Counter[Link] = Counter()
        self._ready: dict[tuple[str, str], Answer] = {}
        self._prerender(prerender)

    def forget_attempts(self) -> None:
        """Let passing faults begin again."""
        self._attempts.clear()

    def answer(self, request: Request) -> Answer:
        """The answer for a request to any host."""
        ready = self._ready.get((request.host, request.target))
        if ready is not None and not request.port:
            return ready
        demo = self.web.demos.at(request.host)
        if demo is not None:
            return self._demo_answer(demo, request)
        host = self.web.host_number(request.host)
        if host is None:
            return text(404, f"there is no host {request.host} in this lab")
        answer = self._answer_on(host, request)
        answer.latency_ms = answer.latency_ms or self.web.latency_ms(host, request.path)
        return answer

    def _demo_answer(self, demo: DemoSite, request: Request) -> Answer:
        answer = self._demo_page(demo, request)
        if answer.status == 200:
            etag = f'"{blake2b(answer.body, digest_size=8).hexdigest()}"'
            if "if-none-match" in request.headers and _unchanged(request, etag, 0):
                answer = Answer(status=304, headers=(("ETag", etag),))
            else:
                answer = self._dressed(request, answer.with_headers(("ETag", etag)))
        answer.latency_ms = self.web.latency_ms(request.host, request.path)
        return answer

    def _demo_page(self, demo: DemoSite, request: Request) -> Answer:
        if request.path == "/robots.txt":
            return self._robots(request)
        origin = f"http://{_authority(request)}"
        answer = demo.answer(request, origin=origin, version=self.version)
        if answer is None and self.web.spec.sitemap:
            per_file = self.web.spec.sitemap_urls
            answer = sitemap_answer(demo, request.path, origin=origin, per_file=per_file)
        return answer or text(404, f"nothing is at {request.path}")

    def _answer_on(self, host: int, request: Request) -> Answer:
        if request.path == "/robots.txt":
            return self._robots(request)
        place = self._places.look(host, request.path)
        fault = self._fault_now(host, request.path, place)
        if fault is not None and fault.kind.isdigit():
            return _status_fault(fault)
        answer = self._place_answer(host, request, place) if place else None
        if answer is None:
            answer = self._extras.answer(request) or text(404, f"nothing is at {request.path}")
        answer.wire_fault = fault.kind if fault else ""
        return answer

    def _fault_now(self, host: int, path: str, place: Place | None) -> Fault | None:
        if place is not None:
            fault = self.web.fault(host, place.page) if place.page else None
        else:
            fault = ordered_fault(path)
        if fault is None:
            return None
        self._attempts[host, path] += 1
        return fault if fault.fails(self._attempts[host, path]) else None

    def _place_answer(self, host: int, request: Request, place: Place) -> Answer:
        if place.target is not None:
            status = self.web.redirect_status(host, request.path)
            return redirect(status, self._href(host, place.target, request.port))
        if place.kind == "sitemap":
            return self._sitemap(request, place)
        if place.page is None:
            anchors = self._anchors(host, place, request.port)
            answer = Answer(body=render.html(place.title, anchors=anchors))
            answer.trap = place.kind == "trap"
            return answer
        return self._page(host, request, place)

    def _page(self, host: int, request: Request, place: Place) -> Answer:
        page = place.page or 0
        edition, since_s = self.web.edition(host, page, now_s=self._now_s())
        modified_s = since_s or FIRST_EDITION_S
        etag = f'"{self.web.dice.number("etag", host, page, edition):016x}"'
        validators = (("ETag", etag), ("Last-Modified", formatdate(modified_s, usegmt=True)))
        if _unchanged(request, etag, modified_s):
            return Answer(status=304, headers=validators)
        answer = self._rendered(host, place, edition, port=request.port)
        answer.headers = validators
        if self.web.drips(host, page):
            answer.drip = self.web.spec.drip
        return self._dressed(request, answer)

    def _rendered(self, host: int, place: Place, edition: int, *, port: str) -> Answer:
        charset = self.web.charset(host, place.page or 0)
        body = render.page(
            self.web.dice,
            f"{place.title}, edition {edition}",
            anchors=self._anchors(host, place, port),
            page_bytes=self.web.spec.page_bytes,
            charset=charset,
        )
        return Answer(body=body, content_type=f"text/html; charset={charset}")

    def _dressed(self, request: Request, answer: Answer) -> Answer:
        """The answer with a cookie and compressed, where the web does so."""
        if self.web.spec.cookies and "visitor" not in cookies_of(request):
            visitor = f"{self.web.dice.number('visitor', request.host):016x}"
            answer = answer.with_headers(("Set-Cookie", f"visitor={visitor}; Path=/"))
        if self.web.spec.gzip and "gzip" in request.headers.get("accept-encoding", ""):
            answer.body = gzip.compress(answer.body, compresslevel=1, mtime=0)
            answer = answer.with_headers(("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding"))
        return answer

    def _robots(self, request: Request) -> Answer:
        spec = self.web.spec
        if not spec.robots:
            return text(404, "no robots.txt")
        policy = self.web.policy(request.host)
        told_ms = policy.delay_ms if policy and spec.crawl_delay else 0.0
        sitemap = f"http://{_authority(request)}/sitemap.xml" if spec.sitemap else ""
        disallow = self.web.disallow(request.host)
        body = render.robots_txt(delay_ms=told_ms, disallow=disallow, sitemap=sitemap)
        return Answer(body=body, content_type="text/plain; charset=utf-8")

    def _sitemap(self, request: Request, place: Place) -> Answer:
        urls = [f"http://{_authority(request)}{path}" for _, path in place.links]
        names = ("sitemapindex", "sitemap") if request.path == "/sitemap.xml" else ("urlset", "url")
        return Answer(body=render.sitemap(*names, urls=urls), content_type="application/xml")

    def _anchors(self, host: int, place: Place, port: str) -> list[render.Anchor]:
        hrefs = (self._href(host, link, port) for link in place.links)
        return [(href, f"link {number}") for number, href in enumerate(hrefs, 1)]

    def _href(self, host: int, link: Link, port: str) -> str:
        """A path on the same host; a whole URL elsewhere, on the port that the client came by."""
        if link[0] == host:
            return link[1]
        return f"http://{self.web.host(link[0])}{f':{port}' if port else ''}{link[1]}"

    def _prerender(self, count: int) -> None:
        """Render the first pages of every host in turn, until the count is reached."""
        spec = self.web.spec
        for number in range(min(count, spec.hosts * spec.pages)):
            page, host = divmod(number, spec.hosts)
            path = f"/p/{page}" if page else "/"
            place = self._places.look(host, path)
            if place is not None:
                answer = self._rendered(host, place, 0, port="")
                answer.whole()
                self._ready[self.web.host(host), path] = answer


def _authority(request: Request) -> str:
    return f"{request.host}:{request.port}" if request.port else request.host


def _status_fault(fault: Fault) -> Answer:
    answer = text(int(fault.kind), f"planted fault {fault.kind}")
    if fault.kind in ("429", "503"):
        return answer.with_headers(("Retry-After", str(fault.retry_after_s)))
    return answer


def _unchanged(request: Request, etag: str, modified_s: float) -> bool:
    """Whether the client's copy is current; as RFC 9110 says, an ETag outweighs a date."""
    known = request.headers.get("if-none-match")
    if known is not None:
        return known == "*" or etag in (tag.strip().removeprefix("W/") for tag in known.split(","))
    since = request.headers.get("if-modified-since")
    if since is None:
        return False
    try:
        return int(modified_s) <= parsedate_to_datetime(since).timestamp()
    except ValueError:
        return False
