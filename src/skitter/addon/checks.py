"""Whether this Scrapy is built as the add-on expects: asked once, before anything is crawled.

The add-on takes the place of methods that Scrapy does not promise to keep. A version in which one
of them is gone, or takes other arguments, is refused by name; it would lose pages without a word.
"""

from __future__ import annotations

import inspect
from typing import Any

import scrapy
from scrapy.core.downloader import Downloader
from scrapy.core.engine import ExecutionEngine
from scrapy.core.scraper import Scraper
from scrapy.core.spidermw import SpiderMiddlewareManager
from scrapy.downloadermiddlewares.cookies import CookiesMiddleware
from scrapy.downloadermiddlewares.offsite import OffsiteMiddleware
from scrapy.downloadermiddlewares.retry import RetryMiddleware

from skitter.errors import UnsupportedScrapy

VERSIONS = ("2.19",)
_METHODS: dict[tuple[type, str], tuple[str, ...]] = {
    (ExecutionEngine, "_handle_downloader_output"): ("self", "result", "request"),
    (ExecutionEngine, "close_spider_async"): ("self", "reason"),
    (ExecutionEngine, "crawl"): ("self", "request"),
    (Scraper, "handle_spider_output_async"): ("self", "result", "request", "response"),
    (Scraper, "handle_spider_error"): ("self", "_failure", "request", "response"),
    (Scraper, "start_itemproc_async"): ("self", "item", "response"),
    (SpiderMiddlewareManager, "process_start"): ("self", "spider"),
    (Downloader, "fetch"): ("self", "request", "spider"),
    (Downloader, "_enqueue_request"): ("self", "request"),
    (RetryMiddleware, "process_response"): ("self", "request", "response", "spider"),
    (RetryMiddleware, "process_exception"): ("self", "request", "exception", "spider"),
    (OffsiteMiddleware, "_update_host_regex"): ("self", "spider"),
    (CookiesMiddleware, "process_request"): ("self", "request", "spider"),
    (CookiesMiddleware, "process_response"): ("self", "request", "response", "spider"),
}
_SLOTS = ("_url", "_headers", "_body", "_cookies", "_meta", "_encoding", "_flags", "_cb_kwargs")
_ENGINE = ("_slot", "_start", "scraper", "downloader", "signals")
_SLOT = ("nextcall", "inprogress", "scheduler")


def check_classes() -> None:
    """Raise UnsupportedScrapy if a class differs."""
    differences = [_version(), *_request(), *(_method(*key) for key in _METHODS)]
    _refuse(list(filter(None, differences)))


def check_engine(engine: Any) -> None:
    """Raise UnsupportedScrapy if the running engine differs."""
    missing = [f"the engine has no {name}" for name in _ENGINE if not hasattr(engine, name)]
    slot = getattr(engine, "_slot", None)
    missing += [f"the engine's slot has no {name}" for name in _SLOT if not hasattr(slot, name)]
    _refuse(missing)


def _version() -> str:
    known = any(scrapy.__version__.startswith(f"{version}.") for version in VERSIONS)
    return "" if known else f"the versions known are {', '.join(VERSIONS)}"


def _request() -> list[str]:
    slots = scrapy.Request.__slots__
    return [f"scrapy.Request has no {name}" for name in _SLOTS if name not in slots]


def _method(kind: type, name: str) -> str:
    method = getattr(kind, name, None)
    shown = f"{kind.__module__}.{kind.__qualname__}.{name}"
    if method is None:
        return f"{shown} is gone"
    names = tuple(inspect.signature(method).parameters)
    expected = _METHODS[kind, name]
    return "" if names == expected else f"{shown} takes {', '.join(names)}"


def _refuse(differences: list[str]) -> None:
    if differences:
        raise UnsupportedScrapy(version=scrapy.__version__, differences="; ".join(differences))
