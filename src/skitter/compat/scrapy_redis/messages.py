"""A start message as a request: a bare URL, or JSON with url, method, meta and form data."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from scrapy.http import FormRequest, Request

if TYPE_CHECKING:
    from scrapy import Spider


def request_of(data: bytes | str, *, encoding: str = "utf-8") -> Request | None:
    """The request that a message asks for; None if it is JSON without a url.

    Raises ValueError for what is neither JSON nor a URL. Requests are not filtered: a URL that is
    pushed twice is asked twice.
    """
    text = (data.decode(encoding) if isinstance(data, bytes) else data).strip()
    fields = _fields(text)
    if fields is None:
        return Request(text, dont_filter=True)
    url = fields.pop("url", None)
    if not url:
        return None
    method = str(fields.pop("method", "GET")).upper()
    meta = fields.pop("meta", None)
    if not fields:
        return Request(url, method=method, meta=meta, dont_filter=True)
    return FormRequest(url, method=method, formdata=fields, meta=meta, dont_filter=True)


def requests_of(spider: Spider, data: bytes | str) -> list[Request]:
    """What the spider makes of a message, as scrapy-redis asks it: one request, several or none."""
    made: Any = spider.make_request_from_data(data)  # type: ignore[attr-defined]
    if isinstance(made, Iterable):
        return list(made)
    return [made] if made else []


def _fields(text: str) -> dict[str, Any] | None:
    """The fields of a JSON object; None for text that is no JSON."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    if not isinstance(value, dict):
        raise ValueError(f"it is JSON, but no object: {text[:80]}")  # noqa: TRY004 - a bad message
    return value
