"""Redirects, by status, by meta refresh, and in chains."""

# ruff: noqa: RUF012 - as spiders are written

from __future__ import annotations

from typing import Any

import scrapy
from scrapy.http import JsonRequest

from tests.acceptance.conformance.cases.case import Case, seen, to

WAYS = (301, 302, 303, 307, 308)


class Told(Case):
    """Tells by which way a response came."""

    def parse(self, response: Any) -> Any:
        ways = ("redirect_times", "redirect_urls", "redirect_reasons", "redirect_ttl")
        yield seen(response, **{way: response.meta.get(way) for way in ways})


class Chain(Told):
    """A chain of redirects, and what meta tells of it."""

    name = "redirect_chain"
    paths = ("/hops/5",)


class TooLong(Told):
    """A chain that is longer than REDIRECT_MAX_TIMES goes to the errback."""

    name = "redirect_too_long"
    custom_settings = {"REDIRECT_MAX_TIMES": 3}

    async def start(self) -> Any:
        yield scrapy.Request(self.url("/hops/4?far"), errback=self.failed)
        yield scrapy.Request(self.url("/hops/3"), errback=self.failed)

    gives = 2


class Loop(Told):
    """A page that leads to itself ends at once, or with `dont_filter` after its hops."""

    name = "redirect_loop"
    custom_settings = {"REDIRECT_MAX_TIMES": 4}
    gives = 2

    async def start(self) -> Any:
        yield scrapy.Request(self.url("/loop"), errback=self.failed)
        yield scrapy.Request(self.url("/loop?again"), errback=self.failed, dont_filter=True)
        yield scrapy.Request(self.url("/echo/other"))


class Relative(Told):
    """Relative targets, with dots, queries and fragments; an own fragment is kept."""

    name = "redirect_relative"
    targets = ("../echo/a?b=1#part", "?to=%2Fecho%2Fq", "//www.shop.test/echo/x", "/echo/ü/%41")
    gives = 4

    async def start(self) -> Any:
        for target in self.targets[:1] + self.targets[3:]:
            yield scrapy.Request(self.url(f"/redirect/302?to={to(target)}"))
        yield scrapy.Request(self.url(f"/redirect/302?to={to('/echo/f')}#mine"))
        yield scrapy.Request(self.url(f"/redirect/302?to={to(self.targets[1])}"))


class Posted(Told):
    """A POST by each status: which stays a POST, with its body, and which becomes a GET."""

    name = "redirect_post"
    gives = 5

    async def start(self) -> Any:
        for way in WAYS:
            there = self.url(f"/redirect/{way}?to={to(f'/echo/{way}')}")
            headers = {"Content-Type": "text/plain", "X-Own": "kept"}
            yield scrapy.Request(there, method="POST", body=b"payload", headers=headers)


class PostedJson(Told):
    """A JsonRequest by each status; one that becomes a GET loses its content type."""

    name = "redirect_json"
    gives = 5

    async def start(self) -> Any:
        for way in WAYS:
            there = self.url(f"/redirect/{way}?to={to(f'/echo/{way}')}")
            yield JsonRequest(there, data={"a": 1})


class Put(Told):
    """The same for PUT and HEAD."""

    name = "redirect_put_head"
    gives = 10

    async def start(self) -> Any:
        for way in WAYS:
            there = self.url(f"/redirect/{way}?to={to(f'/echo/{way}')}")
            yield scrapy.Request(there, method="PUT", body=b"payload")
            yield scrapy.Request(there, method="HEAD")


class OtherHost(Told):
    """Credentials and cookies of a request do not go to another host."""

    name = "redirect_other_host"
    gives = 2

    async def start(self) -> Any:
        for host in ("shop.test", "other.test"):
            target = self.url("/echo/there", host=host)
            yield scrapy.Request(
                self.url(f"/redirect/302?to={to(target)}"),
                headers={"Authorization": "Basic abc", "X-Own": "kept"},
                cookies={"own": "1"},
            )


class NotTaken(Told):
    """`dont_redirect`, `handle_httpstatus_list` and REDIRECT_ENABLED leave the page as it is."""

    name = "redirect_not_taken"
    gives = 2

    async def start(self) -> Any:
        there = self.url(f"/redirect/302?to={to('/echo/')}")
        yield scrapy.Request(there, meta={"dont_redirect": True, "handle_httpstatus_all": True})
        meta = {"handle_httpstatus_list": [302]}
        yield scrapy.Request(there + "#2", meta=meta, dont_filter=True)


class Off(Told):
    """REDIRECT_ENABLED off: a redirect is a page that the spider does not take."""

    name = "redirect_off"
    custom_settings = {"REDIRECT_ENABLED": False}

    async def start(self) -> Any:
        yield scrapy.Request(self.url("/hops/1"), errback=self.failed)


class WithoutTarget(Told):
    """A redirect that leads nowhere, and one to a scheme that is not the web's."""

    name = "redirect_without_target"
    gives = 2

    async def start(self) -> Any:
        yield scrapy.Request(self.url("/redirect/302"), errback=self.failed)
        yield scrapy.Request(self.url("/redirect/302?to=ftp%3A%2F%2Fx%2F"), errback=self.failed)


class ToKnown(Told):
    """A redirect to a page that is known already is not asked again."""

    name = "redirect_to_known"
    custom_settings = {"CONCURRENT_REQUESTS": 1}
    gives = 1

    async def start(self) -> Any:
        yield scrapy.Request(self.url("/echo/there"), priority=1)
        yield scrapy.Request(self.url(f"/redirect/302?to={to('/echo/there')}"))


class Refresh(Told):
    """Meta refresh: followed if soon, not if later than METAREFRESH_MAXDELAY or in noscript."""

    name = "meta_refresh"
    custom_settings = {"METAREFRESH_IGNORE_TAGS": ["noscript"]}
    paths = (
        "/refresh?to=%2Fecho%2Fa",
        "/refresh?after=500&to=%2Fecho%2Fb",
        "/refresh?noscript&to=%2Fecho%2Fc",
        "/refresh?after=5&to=echo%2Fd%23part",
    )
    gives = 4


class RefreshOff(Told):
    """METAREFRESH_ENABLED off, and `dont_redirect`."""

    name = "meta_refresh_off"
    custom_settings = {"METAREFRESH_ENABLED": False}
    paths = ("/refresh?to=%2Fecho%2Fa",)
