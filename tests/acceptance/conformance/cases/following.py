"""Which links are followed: depth, domains, lengths, duplicates, priorities."""

# ruff: noqa: RUF012 - as spiders are written

from __future__ import annotations

from typing import Any, ClassVar

import scrapy

from tests.acceptance.conformance.cases.case import Case, leads_to, seen


class Tree(Case):
    """Follows all links of an endless tree."""

    paths = ("/tree/",)

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "depth": response.meta["depth"]}
        yield from response.follow_all(css="a")


class DepthLimit(Tree):
    """DEPTH_LIMIT."""

    name = "depth_limit"
    custom_settings = {"DEPTH_LIMIT": 3}
    gives = 15


class DepthStats(Tree):
    """DEPTH_STATS_VERBOSE counts each level."""

    name = "depth_stats"
    custom_settings = {"DEPTH_LIMIT": 2, "DEPTH_STATS_VERBOSE": True}
    gives = 7


class DepthOff(Tree):
    """DepthMiddleware taken out: nobody knows of depths."""

    name = "depth_off"
    custom_settings = {
        "SPIDER_MIDDLEWARES": {"scrapy.spidermiddlewares.depth.DepthMiddleware": None}
    }
    gives = 3

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "depth": response.meta.get("depth")}
        if response.url.endswith("/tree/"):
            yield from response.follow_all(css="a")


class BreadthFirst(Tree):
    """A positive DEPTH_PRIORITY goes level by level."""

    name = "depth_priority"
    custom_settings = {"DEPTH_LIMIT": 3, "DEPTH_PRIORITY": 1, "CONCURRENT_REQUESTS": 1}
    gives = 15

    def parse(self, response: Any) -> Any:
        stats: Any = self.crawler.stats
        depth = response.meta["depth"]
        last = stats.get_value("case/depth", 0)
        stats.set_value("case/depth", depth)
        yield {"url": response.url, "back": depth < last}
        yield from response.follow_all(css="a")


class Offsite(Case):
    """Links off the allowed domains are dropped; subdomains are no such links."""

    name = "offsite"
    allowed_domains: ClassVar = ["shop.test"]
    gives = 4

    async def start(self) -> Any:
        hosts = ("www.shop.test", "a.b.shop.test", "other.test", "myshop.test", "shop.test.evil")
        links = [self.url("/echo/1", host=host) for host in hosts]
        yield scrapy.Request(self.url(leads_to(*links)))
        yield scrapy.Request(self.url("/echo/start", host="other.test"))

    def parse(self, response: Any) -> Any:
        yield {"url": response.url}
        if not response.url.count("/echo/"):
            yield from response.follow_all(css="a", callback=self.parse_link)
            there = self.url("/echo/allowed", host="other.test")
            yield scrapy.Request(there, callback=self.parse_link, meta={"allow_offsite": True})

    def parse_link(self, response: Any) -> Any:
        yield {"link": response.url}


class OffsiteRedirect(Case):
    """A redirect off the allowed domains."""

    name = "offsite_redirect"
    allowed_domains: ClassVar = ["shop.test"]

    async def start(self) -> Any:
        there = self.url("/echo/", host="other.test")
        yield scrapy.Request(self.url(f"/redirect/302?to={there}"), errback=self.failed)
        yield scrapy.Request(self.url("/echo/here"))


class UrlLength(Case):
    """URLLENGTH_LIMIT."""

    name = "url_length"
    custom_settings = {"URLLENGTH_LIMIT": 100}
    paths = ("/links",)

    def parse(self, response: Any) -> Any:
        for count in (10, 90):
            yield response.follow("/echo/" + "x" * count, callback=self.parse_link)

    def parse_link(self, response: Any) -> Any:
        yield seen(response)


class FollowedAgain(Case):
    """A spider sees all requests of `follow_all` that pass through its hands, known or not."""

    name = "followed_again"
    custom_settings = {"CONCURRENT_REQUESTS": 1}
    paths = (
        leads_to("/echo/a", "/echo/b", "/echo/c?x=1"),
        leads_to("/echo/c?x=1", "/echo/b", "/echo/d", "/echo/a"),
        leads_to("/echo/a", "/echo/a", "/echo/e", "/echo/b"),
        leads_to("/echo/a", "/echo/b"),
    )
    gives = 3 * len(paths) + 5

    def parse(self, response: Any) -> Any:
        made = [*response.follow_all(css="a", callback=self.parse_link)]
        yield {"page": response.url, "made": len(made)}
        yield from self.handed_on(response)
        number = 0
        for request in response.follow_all(response.css("a::attr(href)").getall(), self.parse_link):
            number += 1
            yield request
        yield {"page": response.url, "seen": number}

    def handed_on(self, response: Any) -> Any:
        yield from response.follow_all(css="a", callback=self.parse_link)
        yield {"page": response.url, "handed": "on"}
        yield from [*response.follow_all(css="a", callback=self.parse_link)]

    def parse_link(self, response: Any) -> Any:
        yield {"link": response.url}


class Duplicates(Case):
    """The same page in other words is asked once; with `dont_filter`, as often as is wanted."""

    name = "duplicates"
    custom_settings = {"CONCURRENT_REQUESTS": 1}
    paths = (leads_to("/echo/a?x=1&y=2", "/echo/a?y=2&x=1", "/echo/a?x=1&y=2#part", "/echo/b"),)
    gives = 5

    def parse(self, response: Any) -> Any:
        yield from response.follow_all(css="a", callback=self.parse_link)
        for number in range(2):
            yield response.follow(
                "/echo/b",
                callback=self.parse_again,
                cb_kwargs={"number": number},
                dont_filter=True,
            )
        yield response.follow(
            "/echo/b", method="POST", callback=self.parse_again, cb_kwargs={"number": 2}
        )
        yield response.follow("/echo/a", callback=self.parse_link)

    def parse_link(self, response: Any) -> Any:
        if "y=" not in response.url:
            yield {"url": response.url}

    def parse_again(self, response: Any, number: int) -> Any:
        yield {"again": response.url, "number": number}


class Priorities(Case):
    """Higher priority first; between those above, at and below zero the frontier mixes."""

    name = "priorities"
    custom_settings = {"CONCURRENT_REQUESTS": 1}
    in_order = True
    gives = 6
    paths = ("/links",)

    def parse(self, response: Any) -> Any:
        for priority in (2, 5, 3, 20, 1, 7):
            yield response.follow(f"/echo/{priority}", priority=priority, callback=self.parse_link)

    def parse_link(self, response: Any) -> Any:
        yield {"url": response.url, "priority": response.request.priority}


class Follows(Case):
    """`follow`, `follow_all` and `urljoin` with all that they take."""

    name = "follow_and_urljoin"
    gives = 8

    async def start(self) -> Any:
        links = ("/echo/1", " /echo/2 ", "?to=x", "../echo/3", "#top", "echo/4;p?q=ä")
        yield scrapy.Request(self.url(leads_to(*links)))

    def parse(self, response: Any) -> Any:
        yield {"joined": [response.urljoin(path) for path in ("a", "../b", "?c", "//d.test/e")]}
        yield response.follow("/echo/text", callback=self.parse_link)
        yield response.follow(response.css("a")[0], callback=self.parse_link)
        yield response.follow(response.css("a::attr(href)")[1], callback=self.parse_link)
        yield from response.follow_all(xpath="//a[position() > 2]", callback=self.parse_link)
        yield from response.follow_all(["/echo/5"], callback=self.parse_link, flags=["flagged"])

    def parse_link(self, response: Any) -> Any:
        yield seen(response, ours=response.request.flags)


class Encodings(Case):
    """A request's encoding is its own, or that of the page that it was followed from."""

    name = "request_encoding"
    paths = ("/body/charset-header",)
    gives = 2

    def parse(self, response: Any) -> Any:
        yield response.follow("/echo/1", callback=self.parse_link)
        yield scrapy.Request(response.urljoin("/echo/2"), self.parse_link, encoding="cp1251")

    def parse_link(self, response: Any) -> Any:
        wider = response.request.replace(url=response.url + "?q=\u00a7")
        yield {"encoding": response.request.encoding, "wider": wider.url}
