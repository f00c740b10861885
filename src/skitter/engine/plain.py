"""A request for a URL that is known to be clean, without the work of cleaning it once more."""

from __future__ import annotations

from typing import Any

from scrapy.http import Request as ScrapyRequest

_new = object.__new__


def plain_request(url: str, callback: Any, encoding: str = "utf-8") -> ScrapyRequest:
    """What `Request(url, callback, encoding=encoding)` makes of a URL that is clean already."""
    made: Any = _new(ScrapyRequest)
    made._encoding = encoding  # noqa: SLF001 - all of these are the constructor's work
    made.method = "GET"
    made._meta = None  # noqa: SLF001
    made._url = url  # noqa: SLF001
    made._body = b""  # noqa: SLF001
    made.priority = 0
    made.callback = callback
    made.errback = None
    made._cookies = None  # noqa: SLF001
    made._headers = None  # noqa: SLF001
    made.dont_filter = False
    made._cb_kwargs = None  # noqa: SLF001
    made._flags = None  # noqa: SLF001
    request: ScrapyRequest = made
    return request
