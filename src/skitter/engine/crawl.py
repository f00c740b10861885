"""What the parts of one crawler share: its process, its lane, its job and the visits in hand.

Scrapy builds scheduler, downloader, middlewares and pipelines each by itself; they meet here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import structlog

from skitter.engine.known import KnownLinks
from skitter.engine.requests import RequestCodec
from skitter.engine.visit import current
from skitter.errors import BadRequest, UnstorableRequest
from skitter.frontier import lane_of

if TYPE_CHECKING:
    from scrapy import Request as ScrapyRequest
    from scrapy.crawler import Crawler

    from skitter.engine.process import Process
    from skitter.engine.visit import Visit
    from skitter.frontier import Request
    from skitter.policies.scrapy_settings import ScrapyTuning
    from skitter.settings import Settings

log = structlog.get_logger(__name__)

_CRAWLS: WeakKeyDictionary[Crawler, Crawl] = WeakKeyDictionary()


class Crawl:
    """One crawler's part in the work of its lane.

    job is the one that requests made outside of any visit belong to; a worker's lane has none of
    its own. process is there from the scheduler's opening on.
    """

    process: Process

    def __init__(
        self,
        crawler: Crawler,
        *,
        settings: Settings,
        tuning: ScrapyTuning,
        args: dict[str, str],
    ) -> None:
        self.crawler = crawler
        self.settings = settings
        self.tuning = tuning
        self.args = args
        self.job = ""
        self.visits: dict[ScrapyRequest, Visit] = {}
        self.attrs: dict[str, dict[str, Any]] = {}
        self.adrift: list[Request] = []
        self.known = KnownLinks()
        self._schemes = {"http", "https"}
        self._codec: RequestCodec | None = None
        _CRAWLS[crawler] = self

    @classmethod
    def of(cls, crawler: Crawler) -> Crawl:
        """The crawl of a crawler that the add-on has set up."""
        return _CRAWLS[crawler]

    def harvest(self) -> None:
        """Learn which links the frontier has taken meanwhile."""
        self.known.harvest(self.process.frontier.shards.servers_met)

    @property
    def lane(self) -> str:
        """The lane of the crawler's spider and arguments."""
        return lane_of(str(self.crawler.spidercls.name), self.args)

    @property
    def codec(self) -> RequestCodec:
        """Made when the spider is there."""
        if self._codec is None:
            spider: Any = self.crawler.spider
            self._codec = RequestCodec(spider)
        return self._codec

    def take_in(self, request: ScrapyRequest) -> bool:
        """Keep a request with the visit that made it; False if it is dropped, which is told."""
        visit = current()
        if visit is None and not self.job:
            log.error("request of no job", url=request.url, lane=self.lane)
            return False
        try:
            self._keep(request, visit)
        except BadRequest as error:
            self._tell_refused(request, error)
            return False
        except UnstorableRequest as error:
            log.error("request cannot be stored", error=str(error))  # noqa: TRY400 - no traceback
            self.crawler.stats.inc_value("skitter/unstorable")
            if visit:
                visit.fail("unstorable", error.summary)
            return False
        return True

    def _tell_refused(self, request: ScrapyRequest, error: BadRequest) -> None:
        """Of each scheme that is not queued once aloud: Scrapy would have asked for some."""
        scheme = request.url.partition(":")[0].lower()
        is_news = scheme not in self._schemes
        self._schemes.add(scheme)
        tell = log.warning if is_news else log.debug
        tell("request refused", url=error.url, reason=error.reason)
        self.crawler.stats.inc_value("skitter/refused")

    def _keep(self, request: ScrapyRequest, visit: Visit | None) -> None:
        if visit is None:
            self.adrift.append(self.codec.store(request, self.job))
            return
        if self.known.has(visit.job, request):
            self.known.met += 1
            return
        child = self.codec.store(request, visit.job, mark=visit.mark)
        if child.depth and (reason := self.process.traps.refuses(child.url, child.depth)):
            raise BadRequest(url=child.url, reason=reason)
        other = self.codec.other_spider(request)
        if other:
            visit.strangers.setdefault(other, []).append(child)
        else:
            visit.page.children.append(child)
