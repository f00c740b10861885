"""A page from its lease to its settlement.

The response of a page with nothing special about it goes straight to its callback, and what that
gives straight to the page. Everything else (custom spider middlewares, statuses that are errors,
errbacks) takes the way of Scrapy's own scraper, with its parts.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from types import GeneratorType
from typing import TYPE_CHECKING, Any

import structlog
from scrapy import signals
from scrapy.extensions.corestats import CoreStats
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.http import Request as ScrapyRequest
from scrapy.logformatter import LogFormatter
from scrapy.spidermiddlewares.httperror import HttpError, HttpErrorMiddleware
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.log import logformatter_adapter
from scrapy.utils.misc import arg_to_iter, warn_on_generator_with_return_value

from skitter.engine.collecting import Weighed
from skitter.engine.output import CHUNK, Items
from skitter.engine.requests import mark_of
from skitter.engine.responses import HtmlResponse as PlainlyFollowed
from skitter.engine.settling import failure, text_of, verdict_of
from skitter.engine.tally import counter
from skitter.engine.told import is_told
from skitter.engine.verdicts import GivenUp
from skitter.engine.visit import CURRENT, Visit
from skitter.errors import UnrunnableRequest, UnsupportedSetting
from skitter.sinks.extras import extra

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy.crawler import Crawler

    from skitter.engine.crawl import Crawl
    from skitter.engine.links import Links
    from skitter.engine.listeners import Hearing
    from skitter.engine.pipeline import SinkPipeline
    from skitter.engine.settling import Result, Settler
    from skitter.intake import Page

log = structlog.get_logger(__name__)
logger = logging.getLogger("scrapy.core.engine")
SELECTORS = "SKITTER_SELECTORS"
scraped_logger = logging.getLogger("scrapy.core.scraper")


class Visiting:
    """Visits pages. `download` is the chain of downloader middlewares, whichever way it is run.

    links: None where a project has spider middlewares of its own. sink: the only item pipeline;
    None where there are others.
    """

    def __init__(
        self,
        crawl: Crawl,
        settler: Settler,
        *,
        hears: Hearing,
        download: Callable[[ScrapyRequest], Awaitable[Response | ScrapyRequest]],
        links: Links | None,
        sink: SinkPipeline | None,
    ) -> None:
        self._crawl = crawl
        self._crawler = crawl.crawler
        self._settler = settler
        self._hears = hears
        self.download = download
        self._links = links
        self._sink = sink
        self._spider: Any = crawl.crawler.spider
        self._engine: Any = crawl.crawler.engine
        self._scraper: Any = self._engine.scraper
        self._count = _core_counter(crawl.crawler)
        formatter = type(crawl.crawler.logformatter)
        self._tells_crawled = formatter.crawled is not LogFormatter.crawled
        self._tells_scraped = formatter.scraped is not LogFormatter.scraped
        self._warned: set[Any] = set()
        self._html = _html_kind(str(crawl.crawler.settings.get(SELECTORS) or ""))
        self._weighed = Weighed()
        self.weight = 0
        """Bytes of the responses that callbacks and pipelines have in hand."""

    async def visit(self, page: Page, landed: Callable[[], None]) -> None:
        """One page. `landed` is called when its fetch is over, however it went."""
        visit = Visit(page, mark=mark_of(page.request))
        CURRENT.set(visit)
        try:
            request = self._crawl.codec.restore(page.request)
        except UnrunnableRequest as error:
            log.error("request cannot be run", error=str(error))  # noqa: TRY400
            visit.verdict = GivenUp("unrunnable", error=error.summary)
            landed()
            self._settler.conclude(visit)
            return
        self._crawl.visits[request] = visit
        result = await self._result(request, landed)
        visit.verdict = verdict_of(result)
        if not visit.verdict:
            weight = len(result.body) if isinstance(result, Response) else 0
            self.weight += weight
            if page.body:
                page.body.hold(weight)
            await self._hand_on(visit, result, request)
            self.weight -= weight
            self._weighed.add(weight)
        self._settler.end(visit, result, request)
        if isinstance(result, TextResponse):
            # The selector holds its response: without this, each page waits for the collector.
            # Whoever kept the response gets a new selector from it.
            result._cached_selector = None  # noqa: SLF001
            if isinstance(result, PlainlyFollowed):
                result.following = None

    async def _result(self, request: ScrapyRequest, landed: Callable[[], None]) -> Result:
        try:
            return await self.download(request)
        except Exception:  # noqa: BLE001 - whatever it is, an errback may want it
            return failure()
        finally:
            landed()

    async def _hand_on(self, visit: Visit, result: Result, request: ScrapyRequest) -> None:
        try:
            if isinstance(result, ScrapyRequest):
                self._engine.crawl(result)
            elif isinstance(result, Response):
                if self._html and isinstance(result, HtmlResponse):
                    result = result.replace(cls=self._html)
                self.received(result, request)
                await self._scrape(visit, result)
            else:
                await self._scraper._scrape(result, request)  # noqa: SLF001
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task and task.cancelling():
                raise
            # Not this task was cancelled, but something that the spider waited for.
            self._scraper.handle_spider_error(failure(), request, result)
        except Exception as error:  # Scrapy would log it and go on, and the page pass for done
            log.exception("page could not be handled", url=request.url)
            visit.fail("engine", text_of(error))

    def received(self, response: Response, request: ScrapyRequest) -> None:
        """As Scrapy's engine tells that a response is there."""
        crawler, spider = self._crawler, self._spider
        if response.request is None:
            response.request = request
        if self._tells_crawled or is_told(logger):
            told = crawler.logformatter.crawled(response.request, response, spider)
            if told is not None:
                logger.log(*logformatter_adapter(told), extra={"spider": spider})
        if not self._hears(signals.response_received):
            self._count("response_received_count")
            return
        crawler.signals.send_catch_log(
            signal=signals.response_received,
            response=response,
            request=response.request,
            spider=spider,
        )

    async def _scrape(self, visit: Visit, response: Response) -> None:
        request: Any = response.request
        if self._links is None or not 200 <= response.status < 300:
            await self._scraper._scrape(response, request)  # noqa: SLF001
            return
        visit.given = True
        callback = request.callback or self._spider._parse  # noqa: SLF001
        try:
            self._warn(callback)
            output = callback(response, **(request._cb_kwargs or {}))  # noqa: SLF001
            if type(output) is not GeneratorType:
                output = await _iterable(output)
            await self._take(visit, response, output)
        except HttpError as error:  # as if a middleware had refused the response
            await self._refuse(response, error)
        except Exception:  # noqa: BLE001 - a spider's code may raise anything
            self._scraper.handle_spider_error(failure(), request, response)

    async def _refuse(self, response: Response, error: HttpError) -> None:
        """A callback says that a response is none: Scrapy's middleware counts it, and that is all.

        Where it is off, it is an error as any other.
        """
        middleware = self._crawler.get_spider_middleware(HttpErrorMiddleware)
        if middleware is None:
            self._scraper.handle_spider_error(failure(), response.request, response)
            return
        middleware.process_spider_exception(response, error)

    def _warn(self, callback: Any) -> None:
        """Once for each callback: a generator that returns something loses it."""
        function = getattr(callback, "__func__", callback)
        if function not in self._warned:
            self._warned.add(function)
            warn_on_generator_with_return_value(self._spider, callback)

    async def _take(self, visit: Visit, response: Response, outputs: Any) -> None:
        """Take in all that a callback gives; what it gave before it raised counts."""
        assert self._links is not None  # noqa: S101 - else the scraper does it
        links, page = self._links.of(visit, response), visit.page
        html = response if isinstance(response, PlainlyFollowed) else None
        items = Items(self._scraper, response)
        try:
            if hasattr(outputs, "__aiter__"):
                async for output in outputs:
                    await self._take_one(visit, output, links, items)
                return
            for output in outputs:
                if isinstance(output, ScrapyRequest) and len(page.children) < CHUNK:
                    links.take(output)
                    if html and html.following:
                        links.pass_over(html.following, outputs)
                else:
                    await self._take_one(visit, output, links, items)
        finally:
            links.end()
            await items.finish()

    async def _take_one(self, visit: Visit, output: Any, links: Any, items: Items) -> None:
        if isinstance(output, ScrapyRequest):
            links.take(output)
        elif output is not None and not await self._keep(visit, output):
            await items.begin(output, at_once=False)
        page = visit.page
        if len(page.children) >= CHUNK or len(page.items) >= CHUNK:
            await self._crawl.process.intake.room(page)

    async def _keep(self, visit: Visit, item: Any) -> bool:
        """Keep an item that nobody else wants to see; False if it takes the long way."""
        if self._sink is None or self._hears(signals.item_scraped):
            return False
        if self._tells_scraped or is_told(scraped_logger):
            return False
        try:
            await self._sink.keep(item, visit)
        except Exception:  # noqa: BLE001 - the long way comes to the same, and tells it
            return False
        self._count("item_scraped_count")
        return True


def _core_counter(crawler: Crawler) -> Callable[..., None]:
    """Counts what Scrapy's CoreStats would, unless a project has turned that off."""
    if any(type(one) is CoreStats for one in crawler.extensions.middlewares):
        return counter(crawler.stats)
    return lambda *_: None


def _html_kind(selectors: str) -> type[HtmlResponse] | None:
    """The class of pages, where a project or a spider asks for other selectors than parsel's."""
    if selectors in {"", "parsel"}:
        return None
    if selectors != "lexbor":
        raise UnsupportedSetting(name=SELECTORS, value=selectors, hint="parsel or lexbor")
    with extra("lexbor", what=f"{SELECTORS} = lexbor"):
        from skitter.engine.lexbor import LexborResponse  # noqa: PLC0415 - an extra

        return LexborResponse


async def _iterable(output: Any) -> Any:
    """What a callback returned, as something to go through."""
    if inspect.isasyncgen(output):
        return output
    if inspect.isawaitable(output) or hasattr(output, "addCallback"):
        return await _iterable(await ensure_awaitable(output))
    return arg_to_iter(output)
