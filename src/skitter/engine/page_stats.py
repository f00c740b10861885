"""What Scrapy's DownloaderStats counts of a page, without writing the request out to weigh it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.downloadermiddlewares.stats import get_status_size
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.python import global_object_name

from skitter.engine.tally import counter
from skitter.engine.verdicts import Disallowed

if TYPE_CHECKING:
    from scrapy import Request as ScrapyRequest
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector


class PageStats:
    """Counts under Scrapy's names."""

    def __init__(self, stats: StatsCollector) -> None:
        self._add = counter(stats)
        self._status_sizes: dict[int, int] = {}

    def asked(self, request: ScrapyRequest) -> None:
        """A request goes out."""
        self._add("downloader/request_count")
        self._add(f"downloader/request_method_count/{request.method}")
        self._add("downloader/request_bytes", _request_bytes(request))

    def answered(self, response: Response) -> None:
        """A response came."""
        status = response.status
        size = self._status_sizes.get(status)
        if size is None:
            size = self._status_sizes[status] = get_status_size(status)
        headers = dict.items(response.headers)
        for name, values in headers:
            for value in values:
                size += 2 + len(name) + len(value)
        size += 2 * (len(headers) - 1) + 4 + len(response.body)
        self._add("downloader/response_count")
        self._add(f"downloader/response_status_count/{status}")
        self._add("downloader/response_bytes", size)

    def failed(self, error: Exception) -> None:
        """None came. What robots.txt forbids is told under the name that Scrapy has for it."""
        kind = IgnoreRequest if isinstance(error, Disallowed) else type(error)
        self._add("downloader/exception_count")
        self._add(f"downloader/exception_type_count/{global_object_name(kind)}")


def _request_bytes(request: ScrapyRequest) -> int:
    """The length of the request as Scrapy would write it: line, host, headers, body."""
    url: Any = request._url  # noqa: SLF001
    host, slash, path = url.partition("://")[2].partition("/")
    fragment = path.find("#")
    path_bytes = max(1, len(slash) + (len(path) if fragment < 0 else fragment))
    name = host.rpartition("@")[2].partition(":")[0] if ":" in host else host
    size = len(request.method) + path_bytes + len(name) + len("  HTTP/1.1\r\nHost: \r\n\r\n")
    for key, values in dict.items(request.headers):
        for value in values:
            size += len(key) + len(value) + len(": \r\n")
    return size + len(request.body)
