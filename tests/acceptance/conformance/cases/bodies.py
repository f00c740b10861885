"""What becomes of a body: charsets, codings, kinds of responses."""

# ruff: noqa: RUF012 - as spiders are written

from __future__ import annotations

from typing import Any

import scrapy
from scrapy.http import HtmlResponse, JsonResponse, Response, TextResponse, XmlResponse

from tests.acceptance.conformance.bodies import BODIES
from tests.acceptance.conformance.cases.case import Case, seen
from tests.acceptance.conformance.cases.retries import Failing

KINDS = (
    "html", "xhtml", "xml", "rss", "text", "json", "javascript", "csv", "image", "octets",
    "octets-html", "no-type-html", "no-type-octets", "page.xml", "gzip-file", "empty",
)  # fmt: skip

CLASSES = (HtmlResponse, XmlResponse, JsonResponse, TextResponse, Response)


def named(prefix: str) -> tuple[str, ...]:
    return tuple(f"/body/{name}" for name in BODIES if name.startswith(prefix))


class Charsets(Case):
    """Charsets said by header, meta and BOM, wrongly, or not at all."""

    name = "charsets"
    paths = named("charset-")
    gives = len(paths)

    def parse(self, response: Any) -> Any:
        yield {
            "url": response.url,
            "encoding": response.encoding,
            "text": response.text,
            "title": response.css("title::text").get(),
            "words": response.xpath("//p/text()").re(r"\w+"),
        }


class PackedCharsets(Charsets):
    """The same for bodies that are packed, of pages whose name tells their kind."""

    name = "charsets_packed"
    paths = tuple(
        f"/body/{name}"
        for name in ("gzip", "gzip.html", "gzip-meta.html", "gzip.xml", "gzip.json", "br.html")
    )
    gives = len(paths)

    def parse(self, response: Any) -> Any:
        yield seen(response, encoding=response.encoding, text=response.text)


class Codings(Failing):
    """gzip, deflate with and without its header, br, zstd, and several at once."""

    name = "codings"
    paths = (*(f"/body/{name}" for name in ("gzip", "gzip-upper", "gzip-twice", "gzip-members")),
             *named("deflate"), "/body/br", "/body/zstd", "/body/coding-unknown")  # fmt: skip
    gives = len(paths)

    def parse(self, response: Any) -> Any:
        left = [value.decode() for value in response.headers.getlist("Content-Encoding")]
        yield seen(response, left=left, title=response.css("title::text").get())


class BrokenCodings(Failing):
    """Bodies that are packed badly."""

    name = "codings_broken"
    custom_settings = {"RETRY_ENABLED": False}
    paths = tuple(f"/body/{name}" for name in ("gzip-torn", "gzip-garbage", "gzip-trailing"))
    gives = 3


class CodingsOff(Case):
    """COMPRESSION_ENABLED off: the body as it came."""

    name = "codings_off"
    custom_settings = {"COMPRESSION_ENABLED": False}
    paths = ("/body/gzip", "/body/br")
    gives = 2


class PackedHead(Case):
    """HEAD has no body, whatever its headers say."""

    name = "codings_head"

    async def start(self) -> Any:
        yield scrapy.Request(self.url("/body/gzip"), method="HEAD")


class Kinds(Case):
    """The class of a response, by its type, its name and its content."""

    name = "response_kinds"
    paths = tuple(f"/body/{name}" for name in KINDS)
    gives = len(KINDS)

    def parse(self, response: Any) -> Any:
        kinds = [kind.__name__ for kind in CLASSES if isinstance(response, kind)]
        text = response.text if isinstance(response, TextResponse) else None
        yield seen(response, kinds=kinds, text=text)


class Json(Case):
    """`response.json()` and `jmespath`."""

    name = "response_json"
    paths = ("/body/json",)

    def parse(self, response: Any) -> Any:
        yield {"all": response.json(), "some": response.jmespath("a[2]").getall()}


class Metadata(Case):
    """What a response tells besides its body."""

    name = "response_metadata"
    paths = ("/echo/",)

    def parse(self, response: Any) -> Any:
        yield {
            "ip": str(response.ip_address),
            "protocol": response.protocol,
            "certificate": response.certificate,
            "type": response.headers.get("content-type").decode(),
            "headers": sorted(name.decode() for name in response.headers),
            "meta": sorted(response.meta.keys() - {"download_slot"}),
            "latency": response.meta["download_latency"] < 30,
        }
