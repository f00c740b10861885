"""Scrapy's responses, made from an answer; those of HTML follow plain links at a fraction of it.

`follow` joins, cleans and checks a URL for each link anew. Nine in ten are plain: a path or an
absolute URL that nothing would change. Those are known by a pattern, and the request that Scrapy
would make is made at once. All else goes Scrapy's way.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urljoin

import parsel
import scrapy.http
from scrapy.http import Headers, Response
from scrapy.http import Request as ScrapyRequest
from scrapy.http.response.text import _InvalidSelector, _url_from_selector
from scrapy.responsetypes import responsetypes
from scrapy.utils.response import get_base_url
from w3lib.encoding import http_content_type_encoding, read_bom

from skitter.engine.plain import plain_request
from skitter.engine.selectors import Selector, plain_markup

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skitter.engine.known import KnownLinks

_SEGMENTS = r"(?:/[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)*/?(?:\?[A-Za-z0-9_.~=&-]+)?"
# A port that is too high is Scrapy's to refuse.
_PORT = r":(?:\d{1,4}|[1-5]\d{4}|6[0-4]\d{3})"
_ORIGIN = rf"https?://[a-z0-9]+(?:[.-][a-z0-9]+)*(?:{_PORT})?"
_is_rooted = re.compile(rf"(?=/){_SEGMENTS}").fullmatch
_is_origin = re.compile(_ORIGIN).fullmatch
_is_absolute = re.compile(rf"{_ORIGIN}(?=/){_SEGMENTS}").fullmatch
_has_base = re.compile(rb"<base").search  # faster than a search without a pattern
# A base and a refresh stand in the first 4096 characters, of at most four bytes each.
_HEAD_CHARS = 4096
MOST_LINKS_KEPT = 30_000
_SAMPLE = "/Az09-_.~?=&"


@lru_cache(maxsize=256)
def _writes_ascii(encoding: str) -> bool:
    """Whether plain characters stay as they are in an encoding, in which queries are written."""
    try:
        return _SAMPLE.encode(encoding) == _SAMPLE.encode("ascii")
    except (LookupError, UnicodeError):
        return False


@lru_cache(maxsize=256)
def _charset_of(content_type: bytes) -> str | None:
    """The encoding that a header names; few different ones come."""
    return http_content_type_encoding(content_type.decode("latin-1"))


class Joined(dict[str, str]):
    """The plain links of one origin, joined; an empty text for what is not plain.

    The pages of a site have most of their links in common.
    """

    def __init__(self, origin: str) -> None:
        super().__init__()
        self._origin = origin
        self._known: set[str]
        self._known_to: tuple[object, str] = (None, "")

    def __missing__(self, url: str) -> str:
        _joined_of.count()
        joined = self[url] = self._origin + url if self._origin and _is_rooted(url) else ""
        return joined

    def known(self, links: KnownLinks, job: str) -> set[str]:
        """Those that a job knows, as they are written; to be added to by whoever finds one."""
        if self._known_to != (links.epoch, job):
            self._known, self._known_to = set(), (links.epoch, job)
        return self._known


class _AllJoined:
    """The links of all origins, up to a number; when it is reached, all are forgotten."""

    def __init__(self) -> None:
        self._origins: dict[str, Joined] = {}
        self._links = 0

    def __call__(self, origin: str) -> Joined:
        found = self._origins.get(origin)
        if found is None:
            found = self._origins[origin] = Joined(origin)
            self.count()
        return found

    def count(self) -> None:
        """One more."""
        self._links += 1
        if self._links > MOST_LINKS_KEPT:
            self._links = 0
            self._origins.clear()


_joined_of = _AllJoined()


@lru_cache(maxsize=256)
def _checked(origin: str) -> str:
    return origin if _is_origin(origin) else ""


def _split(url: str) -> tuple[str, str]:
    """An absolute URL's origin, if it is a plain one, and what is asked of it."""
    at = url.find("/", len("https://"))
    return (_checked(url[:at]), url[at:]) if at > 0 else ("", "")


def _is_plain(url: str) -> bool:
    """Whether nothing would change an absolute URL; most have been a plain link before."""
    origin, path = _split(url)
    return bool(origin and _joined_of(origin)[path])


class Following:
    """The links that a `follow_all` has still to give. giving: the generator that gives them."""

    __slots__ = ("_joined", "at", "giving", "urls")

    def __init__(self, urls: list[Any], joined: Joined) -> None:
        self.urls = urls
        self.at = 0
        self.giving: Iterator[ScrapyRequest]
        self._joined = joined

    def pass_over(self, known: KnownLinks, job: str) -> int:
        """Leave the next ones out that are known, up to one that is not; how many they were.

        They are known by the text of the page: each look at another string may be one at memory
        that is far away, which is what this takes its time for.
        """
        before, urls, written = self.at, self.urls, self._joined.known(known, job)
        with suppress(TypeError):  # something that is no link: whoever follows it says so
            while True:
                self.at += len([*takewhile(written.__contains__, urls[self.at :])])
                url = urls[self.at] if self.at < len(urls) else None
                if type(url) is not str or not known.has_url(job, self._joined[url]):
                    break
                written.add(url)
        return self.at - before


def lowered_head(body: bytes) -> bytes:
    """What holds the first 4096 characters of a page, and no more if that is easy to tell.

    In lower case. Without bytes that begin something longer, a character is a byte.
    """
    head = body[:_HEAD_CHARS]
    if not head.isascii():
        # Of the encodings that are in use, none loses more than two characters by each such byte.
        head = body[: _HEAD_CHARS * 3 // 2]
        others = len(head) - len(head.decode("ascii", "ignore"))
        if len(head) - 2 * others < _HEAD_CHARS:
            head = body[: 4 * _HEAD_CHARS]
    if b"\x1b" in head:
        head = body[: 4 * _HEAD_CHARS]
    return head.lower()


class HtmlResponse(scrapy.http.HtmlResponse):
    """As Scrapy's, but for the time that `follow` takes."""

    __slots__ = ("_base", "_marks", "following")
    _base: tuple[str, str, str]
    _marks: tuple[bool, bool]
    following: Following | None

    def __new__(cls, *_args: Any, **_kwargs: Any) -> Self:
        """Without a note of each in `scrapy.utils.trackref`."""
        made = object.__new__(cls)
        made.following = None
        return made

    def follow(  # noqa: PLR0913, PLR0917 - Scrapy's signature
        self,
        url: Any,
        callback: Any = None,
        method: str = "GET",
        headers: Any = None,
        body: Any = None,
        cookies: Any = None,
        meta: Any = None,
        encoding: str | None = None,
        priority: int = 0,
        dont_filter: bool = False,  # noqa: FBT001, FBT002
        errback: Any = None,
        cb_kwargs: Any = None,
        flags: Any = None,
    ) -> ScrapyRequest:
        """A request for a link of this page."""
        if (
            headers is body is cookies is encoding is flags is errback is None
            and method == "GET"
            and isinstance(url, str)
            and (callback is None or callable(callback))
            and type(priority) is int
            and not (meta and "verbatim_url" in meta)
            and (joined := self._join(url))
        ):
            made = plain_request(joined, callback, self._base[1])
            made.priority, made.dont_filter = priority, dont_filter
            if meta:
                made._meta = dict(meta)  # noqa: SLF001
            if cb_kwargs:
                made._cb_kwargs = dict(cb_kwargs)  # noqa: SLF001
            return made
        return super().follow(
            url, callback, method, headers, body, cookies, meta, encoding, priority,
            dont_filter, errback, cb_kwargs, flags,
        )  # fmt: skip

    def follow_all(self, urls: Any = None, callback: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Requests for many links of this page."""
        plain = not args and kwargs.keys() <= {"css", "xpath"}
        if plain and (callback is None or callable(callback)):
            links = self._links_in(urls, **kwargs)
            if links is not None:
                return self._follow_plainly(links, callback)
        return super().follow_all(urls, callback, *args, **kwargs)

    def _links_in(
        self, urls: Any, css: str | None = None, xpath: str | None = None
    ) -> Iterable[Any] | None:
        """Links, given or to be found; None if Scrapy has to look at them."""
        if sum(one is not None for one in (urls, css, xpath)) != 1:
            return None
        found = self.css(css) if css else self.xpath(xpath) if xpath else urls
        if isinstance(found, parsel.SelectorList):
            return _hrefs(found)
        return found if isinstance(found, list) else None

    def _follow_plainly(self, urls: Iterable[Any], callback: Any) -> Iterator[ScrapyRequest]:
        origin, encoding, _ = self._known_base()
        joined = _joined_of(origin)
        following = self.following = Following([*urls], joined)
        following.giving = self._give(following, joined, callback, encoding)
        return following.giving

    def _give(
        self, following: Following, joined: Joined, callback: Any, encoding: str
    ) -> Iterator[ScrapyRequest]:
        urls = following.urls
        while following.at < len(urls):
            url = urls[following.at]
            following.at += 1
            if type(url) is str and (link := joined[url]):
                yield plain_request(link, callback, encoding)
            else:
                yield self.follow(url, callback)
        self.following = None

    @property
    def selector(self) -> Selector:
        """As Scrapy's, made once."""
        if self._cached_selector is None:
            origin, encoding, base = self._known_base()
            plain = origin and encoding == "utf-8" and plain_markup(self._body)
            self._cached_selector = Selector.of_page(self, plain, base) if plain else Selector(self)
        found: Any = self._cached_selector
        made: Selector = found
        return made

    def _headers_encoding(self) -> str | None:
        types = dict.get(self.headers, b"Content-Type")
        return _charset_of(types[-1]) if types else None

    def _bom_encoding(self) -> str | None:
        return read_bom(self._body)[0]

    def _join(self, url: str) -> str:
        """The absolute URL of a plain link; an empty text if it is not plain."""
        origin = self._known_base()[0]
        if url[:1] == "/":
            return _joined_of(origin)[url]
        return str(url) if origin and _is_absolute(url) else ""

    def urljoin(self, url: str) -> str:
        """An absolute URL for one that stands in the page."""
        return urljoin(self._known_base()[2], url)

    @property
    def may_refresh(self) -> bool:
        """Whether it could hold a meta refresh: few pages do, and to look properly takes long."""
        return self._looked_at()[1]

    def _looked_at(self) -> tuple[bool, bool]:
        """Whether the page could hold a base, and a refresh."""
        try:
            return self._marks
        except AttributeError:
            head = lowered_head(self._body)
            odd = b"\0" in head
            hidden = b"&" in head and b"&#" in head and b"http-equiv" in head
            refresh = hidden or b"refresh" in head
            self._marks = (odd or _has_base(head) is not None, odd or refresh)
            return self._marks

    def _known_base(self) -> tuple[str, str, str]:
        """The origin of plain links, the encoding and the base; no origin if no link is plain.

        Scrapy looks for a base element in every page; most surely have none.
        """
        try:
            return self._base
        except AttributeError:
            pass
        usual = not self._looked_at()[0] and _is_plain(self._url)
        base, encoding = self._url if usual else get_base_url(self), self.encoding
        origin = _split(base)[0] if _writes_ascii(encoding) else ""
        self._base = (origin, encoding, base)
        return self._base


def _hrefs(selectors: Iterable[Any]) -> Iterator[str]:
    """The links of selectors, of those that have one."""
    for selector in selectors:
        with suppress(_InvalidSelector):
            yield _url_from_selector(selector)


_OURS: dict[type[Response], type[Response]] = {scrapy.http.HtmlResponse: HtmlResponse}
_TITLES: dict[bytes, bytes] = {}
_KINDS: dict[bytes, type[Response]] = {}
MOST_KEPT = 1_000


def headers_of(raw: Sequence[tuple[bytes, bytes]]) -> Headers:
    """Headers as Scrapy keeps them, from those that came."""
    headers = Headers()
    for name, value in raw:
        key = _TITLES.get(name)
        if key is None:
            if len(_TITLES) > MOST_KEPT:
                _TITLES.clear()
            key = _TITLES[name] = name.title()
        values = dict.get(headers, key)
        if values is None:
            dict.__setitem__(headers, key, [value])
        else:
            values.append(value)
    return headers


def kind_of(headers: Headers, url: str, body: bytes) -> type[Response]:
    """The class of a response, as Scrapy chooses it."""
    types = dict.get(headers, b"Content-Type")
    if types and not dict.get(headers, b"Content-Encoding"):
        kind = _KINDS.get(types[-1]) or _kind_by_type(types[-1])
        if kind is not Response:
            return kind
    plain: Any = headers
    kind = responsetypes.from_args(headers=plain, url=url, body=body)
    return _OURS.get(kind, kind)


def _kind_by_type(content_type: bytes) -> type[Response]:
    kind = responsetypes.from_content_type(content_type)
    if len(_KINDS) > MOST_KEPT:
        _KINDS.clear()
    _KINDS[content_type] = _OURS.get(kind, kind)
    return _KINDS[content_type]
