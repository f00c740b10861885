"""Cookies: by domain and path, over redirects, in jars, and given by hand."""

# ruff: noqa: RUF012 - as spiders are written

from __future__ import annotations

from typing import Any

import scrapy

from tests.acceptance.conformance.cases.case import Case, seen, to

ONE = "/redirect/302?c=one%3D1&to=" + to(
    "/redirect/302?c=two%3D2%3B+Path%3D%2Fecho&to=%2Fecho%2Fthere"
)


def sets(*cookies: str) -> str:
    return "/cookies?" + "&".join(f"c={to(cookie)}" for cookie in cookies)


class OverRedirects(Case):
    """Cookies that redirects set are sent from the next hop on."""

    name = "cookies_over_redirects"
    paths = (ONE,)


class ByPath(Case):
    """A cookie is sent below its path, and nowhere else."""

    name = "cookies_by_path"
    paths = (sets("a=1; Path=/echo/in", "b=2; Path=/", "c=3; Path=/echo/in/deep", "d=4"),)
    gives = 4

    def parse(self, response: Any) -> Any:
        for path in ("/echo/in", "/echo/in/deep/x", "/echo/inn", "/echo/out"):
            yield response.follow(path, callback=self.parse_echo)

    def parse_echo(self, response: Any) -> Any:
        yield seen(response)


class ByDomain(ByPath):
    """A cookie for a domain goes to its subdomains; one for a host, or a foreign one, does not."""

    name = "cookies_by_domain"
    gives = 3

    async def start(self) -> Any:
        cookies = (
            "all=1; Domain=example.com",
            "mine=2",
            "foreign=3; Domain=shop.test",
            "top=4; Domain=com",
        )
        yield scrapy.Request(self.url(sets(*cookies), host="example.com"))

    def parse(self, _response: Any) -> Any:
        for host in ("example.com", "www.example.com", "shop.test"):
            yield scrapy.Request(self.url("/echo/", host=host), callback=self.parse_echo)


class Expiring(ByPath):
    """Cookies that have expired, that are for https, and that are set again."""

    name = "cookies_expiring"
    paths = (
        sets(
            "gone=1; Max-Age=0",
            "old=2; Expires=Thu, 01 Jan 1990 00:00:00 GMT",
            "safe=3; Secure",
            "kept=4; Max-Age=1000; HttpOnly; SameSite=Strict",
            "twice=5",
            "twice=6",
            'quoted="a b"',
            "empty=",
        ),
    )

    def parse(self, response: Any) -> Any:
        yield response.follow("/echo/", callback=self.parse_echo)

    gives = 1


class Jars(Case):
    """Jars are kept apart, and `cookiejar` has to be handed on."""

    name = "cookies_in_jars"
    gives = 4

    async def start(self) -> Any:
        for jar in ("a", "b", 3):
            path = sets(f"jar={jar}")
            meta = {"cookiejar": jar}
            yield scrapy.Request(self.url(path), meta=meta, callback=self.parse_jar)

    def parse_jar(self, response: Any) -> Any:
        jar = response.meta["cookiejar"]
        yield response.follow(f"/echo/{jar}", meta={"cookiejar": jar})
        if jar == "a":
            yield response.follow("/echo/none")

    def parse(self, response: Any) -> Any:
        yield seen(response, jar=response.meta.get("cookiejar"))


class NoJar(Case):
    """`cookiejar` that is handed on where there is none: None is the jar of all the others."""

    name = "cookies_in_no_jar"
    paths = (sets("a=1; Path=/"),)
    gives = 2

    def parse(self, response: Any) -> Any:
        meta = {"cookiejar": response.meta.get("cookiejar")}
        yield response.follow("/echo/handed-on", meta=meta, callback=self.parse_echo)
        yield response.follow("/echo/plain", callback=self.parse_echo)

    def parse_echo(self, response: Any) -> Any:
        yield seen(response)


class ByHand(Case):
    """Cookies given to a request: as a dictionary, a list, in bytes, and a header of its own."""

    name = "cookies_by_hand"
    custom_settings = {"CONCURRENT_REQUESTS": 1}
    in_order = True
    gives = 5

    async def start(self) -> Any:
        listed: Any = [{"name": "l", "value": "1", "path": "/echo"}, {"name": b"m", "value": 2.5}]
        yield scrapy.Request(self.url("/echo/1"), cookies={"d": "1", "e": True}, priority=9)
        yield scrapy.Request(self.url("/echo/2"), cookies=listed, priority=8)
        yield scrapy.Request(self.url("/echo/3"), headers={"Cookie": "h=1; i=2"}, priority=7)
        yield scrapy.Request(self.url("/echo/4"), priority=6)
        meta = {"dont_merge_cookies": True}
        yield scrapy.Request(self.url("/echo/5"), cookies={"x": "1"}, meta=meta, priority=5)


class Off(Case):
    """COOKIES_ENABLED off: none are kept."""

    name = "cookies_off"
    custom_settings = {"COOKIES_ENABLED": False}
    paths = (ONE,)
