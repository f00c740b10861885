"""Scrapy's requests as the frontier keeps them, and back.

A plain link is its URL, its depth and the name of its callback. What the frontier has no field for
(cookies, flags, encoding, class, the URL as it was written, the mark of a cookie jar) stands in
meta under one key of ours. Meta keys that Scrapy sets while it runs are left out. What cannot be
kept is an error that names the spider, the URL and the field.
"""

from __future__ import annotations

import re
from functools import lru_cache
from inspect import getattr_static
from typing import TYPE_CHECKING, Any

from scrapy.http import Headers
from scrapy.http import Request as ScrapyRequest

from skitter.engine.plain import plain_request
from skitter.engine.values import Unstorable, restore, store, store_all
from skitter.errors import UnrunnableRequest, UnstorableRequest
from skitter.frontier import Request
from skitter.frontier.urls import parse
from skitter.masking import mask_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider

EXTRAS = "~scrapy"
COOKIES, FLAGS, ENCODING, KIND, STATE, URL, MARK = "c", "f", "e", "k", "s", "u", "m"
OTHER_SPIDER = ("skitter_spider", "spiderid")
_RUN_TIME = frozenset({"depth", "download_latency", "download_slot", *OTHER_SPIDER})
_NO_STATE = frozenset({"__dict__", "__weakref__"})

# Surely canonical, and so are nine in ten: to know it saves most of the work on a link.
_CANONICAL = re.compile(
    r"https?://[a-z0-9]+(?:[.-][a-z0-9]+)*(?::(?!0|80/|443/)\d{1,5})?/"
    r"(?:[A-Za-z0-9_~-]+(?:[./][A-Za-z0-9_~-]+)*/?)?(?:\?[A-Za-z0-9_.~-]+=[A-Za-z0-9_.~-]+)?"
)


@lru_cache(maxsize=8192)
def is_canonical(url: str) -> bool:
    """Whether a URL is surely its own canonical form; asked when it is found, and when fetched."""
    return _CANONICAL.fullmatch(url) is not None


class RequestCodec:
    """Translates for one spider."""

    def __init__(self, spider: Spider) -> None:
        self._spider = spider
        self._names: dict[Any, str] = {}
        self._methods: dict[str, Any] = {"": None}
        self._kinds: dict[str, type[ScrapyRequest]] = {}

    def store(self, request: ScrapyRequest, job: str, *, mark: str = "") -> Request:
        """A request as the frontier keeps it. mark names the state of the cookie jar it needs.

        Raises UnstorableRequest, and BadRequest for a URL that is not to be fetched.
        """
        url = request._url  # noqa: SLF001 - the properties make empty containers on each access
        extras = {MARK: mark} if mark else {}
        # Dedup goes by the canonical form; what is asked stays as it is.
        if not is_canonical(url) and parse(url).url != url:
            extras[URL] = url
        stored = Request(
            job,
            url,
            request.method,
            _store_headers(request._headers) if request._headers else {},  # noqa: SLF001
            request._body,  # noqa: SLF001
            self.name_of(request, "callback"),
            self.name_of(request, "errback"),
            0,
            request.priority,
            request.dont_filter,
        )
        self._store_rest(request, stored, extras)
        return stored

    def restore(self, stored: Request) -> ScrapyRequest:
        """The request that `store` was given; raises UnrunnableRequest."""
        try:
            return self._restore(stored)
        except (AttributeError, TypeError, ValueError, LookupError) as error:
            raise self._unrunnable(stored, str(error)) from error

    def other_spider(self, request: ScrapyRequest) -> str:
        """The name of the spider that a request is addressed to, if it is another one."""
        meta = request._meta  # noqa: SLF001
        if not meta:
            return ""
        name = meta.get(OTHER_SPIDER[0]) or meta.get(OTHER_SPIDER[1]) or ""
        return str(name) if name != self._spider.name else ""

    @staticmethod
    def mark(stored: Request, mark: str, encoding: str) -> None:
        """Have a plain request name the state of the cookie jar that it needs, and its encoding."""
        extras = {MARK: mark} if mark else {}
        if encoding != "utf-8":
            extras[ENCODING] = encoding
        stored.meta = {EXTRAS: extras}

    def _store_rest(self, request: ScrapyRequest, stored: Request, extras: dict[str, Any]) -> None:
        """Fields that most requests do not have."""
        field = "meta"
        try:
            if request._meta:  # noqa: SLF001
                self._store_meta(request._meta, stored)  # noqa: SLF001
            field = "cb_kwargs"
            if request._cb_kwargs:  # noqa: SLF001
                stored.cb_kwargs = store_all(request._cb_kwargs)  # noqa: SLF001
            field = "cookies"
            if request._cookies:  # noqa: SLF001
                extras[COOKIES] = store(request._cookies)  # noqa: SLF001
            if request._flags:  # noqa: SLF001
                extras[FLAGS] = [str(flag) for flag in request._flags]  # noqa: SLF001
            if request._encoding != "utf-8":  # noqa: SLF001
                extras[ENCODING] = request._encoding  # noqa: SLF001
            field = "class"
            if type(request) is not ScrapyRequest:
                _store_kind(request, extras)
        except (Unstorable, RecursionError) as error:
            raise self._unstorable(request, field, str(error)) from error
        if extras:
            stored.meta[EXTRAS] = extras

    @staticmethod
    def _store_meta(meta: dict[str, Any], stored: Request) -> None:
        stored.depth = meta.get("depth", 0)
        if len(meta) > 1 or "depth" not in meta:
            kept = {name: value for name, value in meta.items() if name not in _RUN_TIME}
            stored.meta = store_all(kept)

    def name_of(self, request: ScrapyRequest, field: str) -> str:
        """The name of a callback: it has to be found again in another process."""
        method: Any = getattr(request, field)
        if method is None:
            return ""
        function = getattr(method, "__func__", None)
        if function is None or method.__self__ is not self._spider:
            return self._find_shared_name(request, field, method)
        if function not in self._names:
            self._names[function] = self._find_name(request, field, method)
        return self._names[function]

    def _find_name(self, request: ScrapyRequest, field: str, method: Any) -> str:
        for kind in type(self._spider).__mro__:
            for name in (method.__name__, f"_{kind.__name__.lstrip('_')}{method.__name__}"):
                found = getattr(self._spider, name, None)
                if getattr(found, "__func__", None) is method.__func__:
                    return str(name)
        for name in dir(self._spider):
            found = getattr(self._spider, name, None)
            if getattr(found, "__func__", None) is method.__func__:
                return name
        raise self._unstorable(request, field, f"{method!r} has no name in the spider")

    def _find_shared_name(self, request: ScrapyRequest, field: str, callback: Any) -> str:
        """Of a static method, or a method of the class: they are the same in every process."""
        kind, name = type(self._spider), str(getattr(callback, "__name__", ""))
        found = getattr_static(kind, name, None)
        if isinstance(found, staticmethod) and found.__func__ is callback:
            return name
        if isinstance(found, classmethod) and getattr(kind, name) == callback:
            return name
        raise self._unstorable(request, field, f"{callback!r} is no method of the spider")

    def _method(self, name: str) -> Callable[..., Any] | None:
        if name not in self._methods:
            method = getattr(self._spider, name, None)
            if not callable(method):
                raise ValueError(f"it has no method {name}")
            self._methods[name] = method
        found: Callable[..., Any] | None = self._methods[name]
        return found

    def _restore_link(self, stored: Request) -> ScrapyRequest:
        """A plain link, whose URL is clean: what the constructor would check is known."""
        request = plain_request(stored.url, self._method(stored.callback))
        request.errback = self._method(stored.errback)
        request.priority = stored.priority
        if stored.headers:
            request.headers = _restore_headers(stored.headers)
        if stored.depth:
            request._meta = {"depth": stored.depth}  # noqa: SLF001
        return request

    def _restore(self, stored: Request) -> ScrapyRequest:
        if (
            not (stored.meta or stored.body or stored.cb_kwargs or stored.dont_filter)
            and is_canonical(stored.url)
            and stored.method == "GET"
        ):
            return self._restore_link(stored)
        meta = dict(stored.meta)
        extras = meta.pop(EXTRAS, None) or {}
        meta = restore(meta) if meta else meta
        if stored.depth:
            meta["depth"] = stored.depth
        kind = self._kind(extras[KIND]) if KIND in extras else ScrapyRequest
        # A class of its own may add headers when it is made, or take other arguments.
        made = kind.__new__(kind)
        ScrapyRequest.__init__(
            made,
            extras.get(URL, stored.url),
            callback=self._method(stored.callback),
            method=stored.method,
            headers=stored.headers or None,
            body=stored.body or None,
            cookies=restore(extras.get(COOKIES)),
            meta=meta or None,
            encoding=extras.get(ENCODING, "utf-8"),
            priority=stored.priority,
            dont_filter=stored.dont_filter,
            errback=self._method(stored.errback),
            flags=extras.get(FLAGS),
            cb_kwargs=restore(stored.cb_kwargs) if stored.cb_kwargs else None,
        )
        for name, value in restore(extras.get(STATE, {})).items():
            object.__setattr__(made, name, value)
        return made

    def _kind(self, name: str) -> type[ScrapyRequest]:
        """A class of requests by its name, among those that are loaded."""
        if name not in self._kinds:
            waiting: list[type[ScrapyRequest]] = [ScrapyRequest]
            while waiting:
                kind = waiting.pop()
                self._kinds[_kind_name(kind)] = kind
                waiting += kind.__subclasses__()
        if name not in self._kinds:
            raise ValueError(f"there is no request class {name}")
        return self._kinds[name]

    def _unstorable(self, request: ScrapyRequest, field: str, reason: str) -> UnstorableRequest:
        return UnstorableRequest(
            spider=self._spider.name, url=mask_text(request.url), field=field, reason=reason
        )

    def _unrunnable(self, stored: Request, reason: str) -> UnrunnableRequest:
        return UnrunnableRequest(spider=self._spider.name, url=mask_text(stored.url), reason=reason)


def mark_of(stored: Request) -> str:
    """The state of the cookie jar that a request needs, or an empty text."""
    extras = stored.meta.get(EXTRAS) if stored.meta else None
    return str(extras.get(MARK, "")) if extras else ""


def written_url(stored: Request) -> str:
    """The URL as the spider wrote it."""
    extras = stored.meta.get(EXTRAS) if stored.meta else None
    return str(extras.get(URL, stored.url)) if extras else stored.url


def _store_headers(headers: dict[bytes, list[bytes]]) -> dict[str, Any]:
    """One value as it is, several as a list."""
    return {
        name.decode("latin-1"): values[0] if len(values) == 1 else list(values)
        for name, values in dict.items(headers)
    }


def _restore_headers(stored: dict[str, Any]) -> Headers:
    """What `Headers(stored)` makes, without asking twice what each value is."""
    headers = Headers()
    for name, value in stored.items():
        if type(value) is not bytes:
            return Headers(stored)
        dict.__setitem__(headers, name.title().encode(), [value])
    return headers


def _store_kind(request: ScrapyRequest, extras: dict[str, Any]) -> None:
    kind = type(request)
    if "<locals>" in kind.__qualname__:
        raise Unstorable(f"{_kind_name(kind)} is made inside a function")
    extras[KIND] = _kind_name(kind)
    state = _state(request)
    if state:
        extras[STATE] = store_all(state)


def _state(request: ScrapyRequest) -> dict[str, Any]:
    """What a class of requests keeps besides the fields of all of them."""
    names = list(getattr(request, "__dict__", ()))
    for kind in type(request).__mro__:
        if not issubclass(ScrapyRequest, kind):
            names += [_slot_name(kind, name) for name in _slots(kind)]
    return {name: getattr(request, name) for name in names if hasattr(request, name)}


def _slots(kind: type) -> list[str]:
    slots = vars(kind).get("__slots__", ())
    names = [slots] if isinstance(slots, str) else slots
    return [name for name in names if name not in _NO_STATE]


def _slot_name(kind: type, name: str) -> str:
    """As Python keeps it: private names belong to their class."""
    return f"_{kind.__name__.lstrip('_')}{name}" if name.startswith("__") else name


def _kind_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
