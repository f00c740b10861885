"""Failures of every kind, and what errbacks get of them."""

# ruff: noqa: RUF012 - as spiders are written

from __future__ import annotations

import socket
from typing import Any

import scrapy
from scrapy.exceptions import CloseSpider, IgnoreRequest
from scrapy.spidermiddlewares.httperror import HttpError

from tests.acceptance.conformance.cases.case import Case, seen
from tests.acceptance.conformance.cases.retries import Failing

ONCE = {"RETRY_ENABLED": False}


class Statuses(Failing):
    """HttpError for statuses that the spider does not take."""

    name = "errback_http_error"
    paths = ("/status/404", "/status/403", "/status/410", "/status/204", "/status/501")
    gives = 5
    apart = ("downloader/response_bytes",)


class Timeout(Failing):
    """DOWNLOAD_TIMEOUT, and `download_timeout`."""

    name = "errback_timeout"
    custom_settings = {**ONCE, "DOWNLOAD_TIMEOUT": 0.3}
    gives = 2

    async def start(self) -> Any:
        for request in self.start_requests_of("/slow/2000"):
            yield request
        for request in self.start_requests_of("/slow/600", meta={"download_timeout": 5}):
            yield request


class Refused(Failing):
    """A port where nobody listens, and a name that does not exist."""

    name = "errback_no_connection"
    custom_settings = ONCE
    gives = 2

    async def start(self) -> Any:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
        yield scrapy.Request(f"http://127.0.0.1:{port}/", errback=self.told)
        yield scrapy.Request("http://nowhere.invalid/", errback=self.told)

    def told(self, failure: Any) -> Any:
        yield {"failed": type(failure.value).__name__, "host": failure.request.url[:14]}


class Tls(Failing):
    """A site that does not speak TLS where it should."""

    name = "errback_tls"
    custom_settings = {"RETRY_TIMES": 1}

    async def start(self) -> Any:
        url = self.url("/body/plain").replace("http:", "https:")
        yield scrapy.Request(url, errback=self.failed)


class Torn(Failing):
    """Bodies that are cut off: ResponseDataLossError."""

    name = "errback_data_loss"
    custom_settings = ONCE
    paths = ("/raw/short", "/raw/short-chunk", "/raw/no-last-chunk")
    gives = 3


class Closed(Failing):
    """No answer, half a head."""

    name = "errback_closed"
    custom_settings = ONCE
    paths = ("/raw/nothing", "/raw/head-only")
    gives = 2


class KeptTorn(Failing):
    """DOWNLOAD_FAIL_ON_DATALOSS off: what there is of the body, with a flag."""

    name = "data_loss_kept"
    custom_settings = {"DOWNLOAD_FAIL_ON_DATALOSS": False}
    paths = ("/raw/short", "/raw/no-last-chunk")
    gives = 2
    apart = ("downloader/response_bytes",)


class OddButWhole(Failing):
    """Answers that are odd, but all there."""

    name = "odd_answers"
    paths = ("/raw/no-length", "/raw/http-1.0", "/raw/same-header-twice", "/raw/strange-status")
    gives = 4

    def parse(self, response: Any) -> Any:
        ones = [value.decode() for value in response.headers.getlist("X-One")]
        told = seen(response, protocol=response.protocol, ones=ones, ip=str(response.ip_address))
        told["flags"] = []  # plain Scrapy's "partial", for a body that ends with its connection
        yield told


class OddHeads(Failing):
    """Heads that are wrong, and read all the same."""

    name = "odd_heads"
    custom_settings = ONCE
    paths = (
        "/raw/no-colon", "/raw/length-twice", "/raw/length-and-chunks", "/raw/longer-than-said",
        "/raw/no-content-but-some", "/raw/many-headers",
    )  # fmt: skip
    gives = 6
    apart = ("downloader/response_bytes",)


class TooBig(Failing):
    """DOWNLOAD_MAXSIZE: by the length that was said, by what came, and by `download_maxsize`."""

    name = "errback_too_big"
    custom_settings = {**ONCE, "DOWNLOAD_MAXSIZE": 5000, "DOWNLOAD_WARNSIZE": 2000}
    gives = 4
    apart = ("downloader/response_bytes",)

    async def start(self) -> Any:
        for request in self.start_requests_of("/big/6000", "/big/6000?chunked", "/big/3000"):
            yield request
        for request in self.start_requests_of("/big/8000", meta={"download_maxsize": 0}):
            yield request


class TooBigForSpider(Failing):
    """`download_maxsize` of the spider, for what comes and for what it unpacks to."""

    name = "errback_too_big_for_spider"
    custom_settings = ONCE
    download_maxsize = 5000
    paths = ("/big/6000", "/big/6000?chunked", "/big/3000", "/body/gzip-bomb")
    gives = 4
    apart = ("downloader/response_bytes",)


class TornByMeta(Failing):
    """`download_fail_on_dataloss` of a request."""

    name = "data_loss_kept_by_meta"
    custom_settings = ONCE
    gives = 2
    apart = ("downloader/response_bytes",)

    async def start(self) -> Any:
        for path, fails in (("/raw/short", False), ("/raw/no-last-chunk", True)):
            meta = {"download_fail_on_dataloss": fails}
            yield scrapy.Request(self.url(path), meta=meta, errback=self.failed)


class Bomb(Failing):
    """A body that grows past DOWNLOAD_MAXSIZE when it is unpacked."""

    name = "errback_bomb"
    custom_settings = {**ONCE, "DOWNLOAD_MAXSIZE": 100_000}
    paths = ("/body/gzip-bomb", "/body/br-bomb")
    gives = 2


class Callbacks(Case):
    """A callback that raises goes to no errback; what it gave before counts."""

    name = "callback_raises"
    gives = 3

    async def start(self) -> Any:
        yield scrapy.Request(self.url("/echo/1"), errback=self.failed)
        yield scrapy.Request(self.url("/echo/2"), callback=self.parse_badly)

    def parse(self, response: Any) -> Any:
        yield seen(response)
        yield response.follow("/echo/3", callback=self.parse_well)
        raise ValueError("the callback failed")

    def parse_badly(self, _response: Any) -> Any:
        return {"one": 1}["two"]

    def parse_well(self, response: Any) -> Any:
        yield seen(response)
        yield {"last": True}


class Refused200(Case):
    """HttpError that a callback raises is no fault of its: the response is ignored, and counted."""

    name = "callback_raises_http_error"
    paths = ("/echo/1",)

    def parse(self, response: Any) -> Any:
        yield {"before": True}
        raise HttpError(response, "it only says that it is well")


class Errbacks(Failing):
    """An errback gives items and requests, or raises in its turn."""

    name = "errback_gives"
    gives = 3

    async def start(self) -> Any:
        yield scrapy.Request(self.url("/status/404?1"), errback=self.gives_more)
        yield scrapy.Request(self.url("/status/404?2"), errback=self.raises)
        yield scrapy.Request(self.url("/status/404?3"), errback=self.waits)

    def gives_more(self, failure: Any) -> Any:
        yield {"failed": failure.value.response.status, "meta": failure.request.meta["depth"]}
        yield scrapy.Request(self.url("/echo/more"))

    def raises(self, _failure: Any) -> Any:
        raise ValueError("the errback failed")

    async def waits(self, failure: Any) -> Any:
        return {"waited": failure.request.url}


class ErrbacksPassOn(Failing):
    """An errback that returns its failure, or raises it again: as if there were none."""

    name = "errback_passes_on"
    custom_settings = ONCE
    gives = 1

    async def start(self) -> Any:
        for path in ("/status/404", "/raw/short"):
            yield scrapy.Request(self.url(path), errback=self.returns)
            yield scrapy.Request(self.url(f"{path}?2"), errback=self.raises)
        yield scrapy.Request(self.url("/echo/1"))

    def returns(self, failure: Any) -> Any:
        return failure

    def raises(self, failure: Any) -> Any:
        failure.raiseException()


class ErrbackCloses(Failing):
    """CloseSpider in an errback."""

    name = "errback_closes"
    gives = 1

    async def start(self) -> Any:
        yield {"first": True}
        yield scrapy.Request(self.url("/status/404"), errback=self.closes)

    def closes(self, failure: Any) -> Any:
        raise CloseSpider(f"status {failure.value.response.status}")


class Ignored(Failing):
    """IgnoreRequest that a spider raises in a callback."""

    name = "callback_ignores"
    paths = ("/echo/1",)
    gives = 1

    def parse(self, _response: Any) -> Any:
        yield {"before": True}
        raise IgnoreRequest("enough")


class WithoutErrback(Case):
    """Failures that nobody waits for."""

    name = "failures_without_errback"
    custom_settings = ONCE
    paths = ("/status/404", "/status/500", "/raw/short", "/echo/last")
