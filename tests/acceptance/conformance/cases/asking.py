"""What is sent: headers, referers, credentials, forms, JSON, robots.txt."""

# ruff: noqa: RUF012 - as spiders are written

from __future__ import annotations

from typing import Any

import scrapy
from scrapy.http import FormRequest, JsonRequest, XmlRpcRequest

from tests.acceptance.conformance.cases.case import Case, leads_to, port_of, seen
from tests.acceptance.conformance.cases.retries import Failing


class Headers(Case):
    """A request's headers come before the default ones; a header may come twice, or not at all."""

    name = "headers_of_request"
    custom_settings = {
        "DEFAULT_REQUEST_HEADERS": {"X-Default": "1", "Accept": "text/x", "X-B": "b"}
    }

    async def start(self) -> Any:
        headers = {
            "X-Twice": ["1", "2"],
            "accept": "own/own",
            "X-Default": None,
            "User-Agent": "me",
        }
        yield scrapy.Request(self.url("/echo/"), headers=headers)


class OddHeaders(Failing):
    """Headers with line breaks, blanks, accents and bytes; a host by hand; names that are none."""

    name = "headers_odd"
    gives = 10

    async def start(self) -> Any:
        odd: tuple[dict[Any, Any], ...] = (
            {"Authorization": "token\n"},
            {"X-Lines": "a\r\nX-Other: b"},
            {"X-Blanks": " a\tb "},
            {"X-Accents": "ü€", b"x-bytes": b"\xff\xfe", "X-Empty": "", "X-Number": 5},
            {"Host": "other.test", "Connection": "keep-alive"},
            {"User-Agent": None, "Accept": None, "Accept-Encoding": None},
            {":authority": "shop.test"},
            {"X-Colon:": "1"},
            {"Accept ": "text/html"},
            {"": "nameless"},
        )
        for number, headers in enumerate(odd):
            url = self.url(f"/echo/{number}")
            yield scrapy.Request(url, headers=headers, errback=self.failed)


class Expecting(Case):
    """A body that is announced is not waited with."""

    name = "headers_expect"

    async def start(self) -> Any:
        headers = {"Expect": "100-continue"}
        yield scrapy.Request(self.url("/echo/"), method="PUT", body=b"data", headers=headers)


class DefaultHeaders(Case):
    """Scrapy's default headers."""

    name = "headers_by_default"
    paths = ("/echo/",)


class UserAgent(Case):
    """A user agent of the spider's own."""

    name = "user_agent_of_spider"
    user_agent = "spider's own"
    paths = ("/echo/",)


class UserAgentSetting(Case):
    """A user agent by `custom_settings`."""

    name = "user_agent_setting"
    custom_settings = {"USER_AGENT": "by setting"}
    paths = ("/echo/",)


class Referers(Case):
    """The referer of a link."""

    name = "referer"
    gives = 3

    async def start(self) -> Any:
        other = self.url("/echo/1", host="other.test")
        yield scrapy.Request(self.url(leads_to("/echo/1", other) + "#part"))

    def parse(self, response: Any) -> Any:
        yield from response.follow_all(css="a", callback=self.parse_link)
        yield response.follow("/echo/own", headers={"Referer": "own"}, callback=self.parse_link)

    def parse_link(self, response: Any) -> Any:
        yield seen(response)


class RefererPolicy(Referers):
    """REFERRER_POLICY."""

    name = "referer_policy"
    custom_settings = {"REFERRER_POLICY": "same-origin"}


class RefererOfPage(Referers):
    """A Referrer-Policy header, and `referrer_policy` of a request."""

    name = "referer_policy_of_page"
    gives = 4

    async def start(self) -> Any:
        other = self.url("/echo/1", host="other.test")
        yield scrapy.Request(self.url(leads_to("/echo/1", other, policy="origin")))

    def parse(self, response: Any) -> Any:
        yield from super().parse(response)
        meta = {"referrer_policy": "no-referrer"}
        yield response.follow("/echo/none", meta=meta, callback=self.parse_link)


class RefererOff(Referers):
    """REFERER_ENABLED off."""

    name = "referer_off"
    custom_settings = {"REFERER_ENABLED": False}


class Auth(Failing):
    """`http_user` and `http_pass`, within `http_auth_domain`."""

    name = "http_auth"
    http_user = "reader"
    http_pass = "paper & ink"
    http_auth_domain = "shop.test"
    gives = 4

    async def start(self) -> Any:
        for host in ("shop.test", "www.shop.test", "other.test"):
            yield scrapy.Request(self.url("/auth", host=host), errback=self.failed)
        own = {"Authorization": "Basic own"}
        yield scrapy.Request(self.url("/auth?own"), headers=own, errback=self.failed)


class Form(Case):
    """A login by `FormRequest.from_response`."""

    name = "form_login"
    paths = ("/login",)

    def parse(self, response: Any) -> Any:
        answers = {"user": "reader", "password": "paper & ink", "tongue": "de"}
        return FormRequest.from_response(
            response, formdata=answers, clickdata={"name": "go"}, callback=self.logged_in
        )

    def logged_in(self, response: Any) -> Any:
        yield seen(response, title=response.css("h1::text").get())


class Forms(Case):
    """FormRequest by GET and POST."""

    name = "form_requests"
    gives = 3

    async def start(self) -> Any:
        data = {"a": "1", "b": ["x y", "ü&"], "c": ""}
        yield FormRequest(self.url("/echo/post"), formdata=data)
        yield FormRequest(self.url("/echo/get?z=0"), formdata=data, method="GET")
        pairs = [("k", "1"), ("k", "2")]
        yield FormRequest(self.url("/echo/pairs"), formdata=pairs, method="PUT")


class Jsons(Case):
    """JsonRequest."""

    name = "json_request"
    gives = 3

    async def start(self) -> Any:
        yield JsonRequest(self.url("/echo/1"), data={"b": [1, None, "ü"], "a": {"x": 1.5}})
        yield JsonRequest(self.url("/echo/2"), data={}, method="PUT")
        yield JsonRequest(self.url("/echo/3"), dumps_kwargs={"indent": 1}, data=[1])


class Waiting(scrapy.Request):
    """A request of the project's own, with other arguments and more to keep."""

    def __init__(self, url: str, wait_s: float = 0, **kwargs: Any) -> None:
        super().__init__(url, **kwargs)
        self.wait_s = wait_s
        self.headers.setdefault("X-Waits", "yes")


class OwnRequests(Case):
    """Requests of a class of the project's own keep what they have."""

    name = "request_of_own_class"
    gives = 2

    async def start(self) -> Any:
        yield Waiting(self.url("/echo/1"), wait_s=1.5)
        without = Waiting(self.url("/echo/2"), meta={"a": 1})
        del without.headers["X-Waits"]
        yield without

    def parse(self, response: Any) -> Any:
        yield seen(response, request=type(response.request).__name__, waits=response.request.wait_s)


class XmlRpc(Case):
    """XmlRpcRequest."""

    name = "xml_rpc_request"
    gives = 2

    async def start(self) -> Any:
        url = self.url("/echo/rpc")
        yield XmlRpcRequest(url, methodname="count", params=(1, "ü"))
        yield XmlRpcRequest(url, methodname="count", params=("ü",), encoding="iso-8859-1")


class Methods(Case):
    """Every method, with and without a body."""

    name = "methods"
    gives = 7

    async def start(self) -> Any:
        for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
            body = b"\x00\xffbytes" if method in {"PUT", "DELETE", "PATCH"} else b""
            yield scrapy.Request(self.url(f"/echo/{method}"), method=method, body=body)

    def parse(self, response: Any) -> Any:
        yield {"url": response.url, "method": response.request.method, "status": response.status}


class EmptyBodies(Case):
    """Methods that usually have a body, without one."""

    name = "methods_without_body"
    gives = 5

    async def start(self) -> Any:
        for method in ("POST", "PUT", "PATCH", "DELETE", "PURGE"):
            yield scrapy.Request(self.url(f"/echo/{method}"), method=method)


class Urls(Case):
    """URLs as they are written: spaces, accents, escapes, empty values, ports, brackets."""

    name = "urls_as_written"
    paths = (
        "/echo/a b", "/echo/ü?ä=ö", "/echo/%7Ea/%2Fb?c=%2f", "/echo/?a=&b&c==", "/echo/?a=1&a=0",
        "/echo/[x]?y[]=1", "/echo/a;b=1?c;d", "/echo//double///slash", "/echo/./dot/../dots",
        "/echo/?q=a+b%20c", "/echo/?u=http://x.test/?y=1#part", "/echo/'\"<>`{}|\\^",
    )  # fmt: skip
    gives = len(paths)


class Proxies(Failing):
    """`meta["proxy"]`: with credentials in it, in a header, without; the site is the proxy."""

    name = "proxies"
    gives = 6

    async def start(self) -> Any:
        host = f"127.0.0.1:{port_of(self.site)}"
        ways: tuple[dict[str, Any], ...] = (
            {"meta": {"proxy": f"http://{host}"}},
            {"meta": {"proxy": host}},
            {"meta": {"proxy": f"http://us%40er:p%3Aw@{host}"}},
            {"meta": {"proxy": f"http://ü:ö@{host}"}},
            {"meta": {"proxy": f"http://{host}"}, "headers": {"Proxy-Authorization": "Basic dTpw"}},
            {"meta": {"proxy": "socks5://127.0.0.1:1"}},
        )
        for number, way in enumerate(ways):
            url = f"http://shop{number}.example.com/echo/{number}?a=1#part"
            yield scrapy.Request(url, errback=self.failed, **way)


class Tunnels(Case):
    """What a proxy is told before TLS is spoken through it; this one refuses."""

    name = "proxies_tunnel"
    custom_settings = {"RETRY_ENABLED": False}
    apart = ("downloader/exception_type_count/*",)

    async def start(self) -> Any:
        meta = {"proxy": f"http://user:pw@127.0.0.1:{port_of(self.site)}"}
        yield scrapy.Request("https://shop.example.com/", meta=meta, errback=self.refused)

    def refused(self, failure: Any) -> Any:
        yield {"refused": failure.request.url}


class BindAddress(Failing):
    """DOWNLOAD_BIND_ADDRESS, and `bindaddress` of a request, with a port or without."""

    name = "bind_address"
    custom_settings = {"DOWNLOAD_BIND_ADDRESS": "127.0.0.2"}
    gives = 3

    async def start(self) -> Any:
        for number, address in enumerate((None, "127.0.0.3", ("127.0.0.4", 0))):
            url = self.url(f"/echo/{number}")
            yield scrapy.Request(url, meta={"bindaddress": address}, errback=self.failed)


class Robots(Failing):
    """ROBOTSTXT_OBEY: what is forbidden is not asked; `dont_obey_robotstxt` is."""

    name = "robots"
    custom_settings = {"ROBOTSTXT_OBEY": True}
    gives = 3
    apart = ("robotstxt/re*", "downloader/re*", "response_received_count")

    async def start(self) -> Any:
        yield scrapy.Request(self.url("/echo/public"), errback=self.failed)
        yield scrapy.Request(self.url("/echo/private/1"), errback=self.failed)
        meta = {"dont_obey_robotstxt": True}
        yield scrapy.Request(self.url("/echo/private/2"), errback=self.failed, meta=meta)


class RobotsAgent(Failing):
    """The rules for ROBOTSTXT_USER_AGENT count."""

    name = "robots_user_agent"
    custom_settings = {"ROBOTSTXT_OBEY": True, "ROBOTSTXT_USER_AGENT": "picky"}
    paths = ("/echo/public", "/links")
    gives = 2
    apart = ("robotstxt/re*", "downloader/re*", "response_received_count")


class Arguments(Case):
    """Arguments of the spider, `from_crawler`, `custom_settings` and `update_settings`."""

    name = "arguments"
    custom_settings = {"CASE_SETTING": "custom"}
    paths = ("/echo/",)
    told = ""

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.told = crawler.settings.get("CASE_SETTING")
        return spider

    @classmethod
    def update_settings(cls, settings: Any) -> None:
        super().update_settings(settings)
        settings.set("CASE_UPDATED", [1, 2], priority="spider")

    def parse(self, response: Any) -> Any:
        yield {
            "told": self.told,
            "site": self.site,
            "updated": self.settings.getlist("CASE_UPDATED"),
            "url": response.url,
        }
