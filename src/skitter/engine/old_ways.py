"""Ways into the engine that Scrapy keeps for old projects: they work, and warn as Scrapy's do."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy.exceptions import ScrapyDeprecationWarning
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.deprecate import argument_is_required
from scrapy.utils.python import global_object_name

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy import Request as ScrapyRequest
    from scrapy import Spider
    from scrapy.http import Response
    from twisted.internet.defer import Deferred

_T = TypeVar("_T")


class OldWays:
    """Methods that give a Deferred, in place of coroutines."""

    download_async: Callable[[ScrapyRequest], Awaitable[Response]]
    close_spider_async: Callable[..., Awaitable[None]]
    close_async: Callable[..., Awaitable[None]]
    stop_async: Callable[[], Awaitable[None]]

    def download(self, request: ScrapyRequest) -> Deferred[Response]:
        """Fetch something outside of the queue."""
        return _deferred("download", self.download_async(request))

    def close_spider(self, spider: Spider, reason: str = "cancelled") -> Deferred[None]:  # noqa: ARG002
        """Close the spider; there is only one."""
        return _deferred("close_spider", self.close_spider_async(reason=reason))

    def stop(self) -> Deferred[None]:
        """Close the spider, for the crawler ends."""
        return _deferred("stop", self.stop_async())

    def close(self) -> Deferred[None]:
        """The same."""
        return _deferred("close", self.close_async())


def _deferred(name: str, work: Awaitable[_T]) -> Deferred[_T]:
    _warn(f"ExecutionEngine.{name}() is deprecated, use {name}_async() instead")
    coroutine: Any = work
    given: Deferred[_T] = deferred_from_coro(coroutine)
    return given


def call_with_spider(method: Callable[..., Any], spider: Any, **kwargs: Any) -> None:
    """Call a part's method; one that was written for older Scrapys wants the spider too."""
    if argument_is_required(method, "spider"):
        _warn(f"{global_object_name(method)} requires a spider argument, this is deprecated")
        kwargs["spider"] = spider
    method(**kwargs)


def _warn(text: str) -> None:
    warnings.warn(text, ScrapyDeprecationWarning, stacklevel=4)
