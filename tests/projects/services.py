"""The bookshop's newer pages: an API, a wall that scrolls on, a feed, and a locked stockroom."""

from __future__ import annotations

import json
from html import escape

from aiohttp import web

SAYINGS, SAYINGS_A_PAGE = 23, 5
OFFERS, OFFERS_A_PAGE = 34, 8
NEWS = 9
PRICES = 14
CRATES = 12
KEY = "open sesame"

routes = web.RouteTableDef()


def page(title: str, body: str) -> web.Response:
    head = f"<head><title>{escape(title)}</title></head>"
    text = f"<!doctype html><html>{head}<body>{body}</body></html>"
    return web.Response(text=text, content_type="text/html")


@routes.get("/offers/page-{number}.html")
async def offers(request: web.Request) -> web.Response:
    """Books on offer, as a list with a pager; some are out of stock."""
    number = int(request.match_info["number"])
    first = (number - 1) * OFFERS_A_PAGE
    shown = range(first, min(first + OFFERS_A_PAGE, OFFERS))
    body = "".join(
        f'<article class="product_pod"><h3><a href="../offers/{n}/index.html" title="Offer {n}">'
        f'Off…</a></h3><p class="price_color">£{n}.99</p></article>'
        for n in shown
    )
    if first + OFFERS_A_PAGE < OFFERS:
        link = f'<a href="page-{number + 1}.html">next</a>'
        body += f'<ul class="pager"><li class="next">{link}</li></ul>'
    return page(f"Offers, page {number}", body)


@routes.get("/offers/{number}/index.html")
async def offer(request: web.Request) -> web.Response:
    number = int(request.match_info["number"])
    stock = f"In stock ({number % 7} available)" if number % 7 else "Out of stock"
    rows = f"<tr><th>UPC</th><td>{number:08x}</td></tr><tr><th>Tax</th><td>£0.00</td></tr>"
    rating = ("Zero", "One", "Two", "Three")[number % 4]
    body = f"<h1> Offer {number}\n</h1><p class='star-rating {rating}'></p><table>{rows}</table>"
    return page(f"Offer {number}", f"{body}<p class='instock'>\n  {stock}\n</p>")


@routes.get("/scroll")
async def wall(_: web.Request) -> web.Response:
    """The page itself is empty; its script asks for more as the visitor scrolls."""
    script = json.dumps({"endpoint": "/api/sayings", "page": 1})
    return page("Sayings", f"<div id='wall'></div><script>var options = {script};</script>")


@routes.get("/api/sayings")
async def sayings(request: web.Request) -> web.Response:
    number = int(request.query.get("page", 1))
    first = (number - 1) * SAYINGS_A_PAGE
    shown = range(first, min(first + SAYINGS_A_PAGE, SAYINGS))
    quotes = [{"text": f"Saying {n}, “naïve”", "tags": ["a", "b"][: n % 3]} for n in shown]
    more = first + SAYINGS_A_PAGE < SAYINGS
    return web.json_response({"page": number, "has_next": more, "quotes": quotes})


@routes.post("/api/search")
async def search(request: web.Request) -> web.Response:
    """Results by cursor, for whoever asks in JSON and with the token."""
    if request.headers.get("X-Token") != "t-7":
        return web.json_response({"error": "no token"}, status=401)
    asked = await request.json()
    start, size = int(asked.get("cursor") or 0), int(asked["size"])
    found = [
        {"id": n, "title": f"{asked['query']} {n}"} for n in range(start, min(start + size, 20))
    ]
    following = start + size if start + size < 20 else None
    return web.json_response({"results": found, "cursor": following})


@routes.get("/api/token")
async def token(_: web.Request) -> web.Response:
    return web.json_response({"token": "t-7"})


@routes.get("/api/books/{number}")
async def book(request: web.Request) -> web.Response:
    number = int(request.match_info["number"])
    if number % 6 == 5:
        return web.json_response({"error": "gone"}, status=404)
    return web.json_response({"id": number, "pages": number * 10, "price": {"GBP": number / 4}})


@routes.get("/feed.xml")
async def feed(request: web.Request) -> web.Response:
    """News as RSS, in an old charset."""
    entries = "".join(
        f"<item><title>News {n}: caf\u00e9 &amp; ink</title>"
        f"<link>http://{request.host}/news/{n}</link>"
        f"<dc:creator>Author {n % 3}</dc:creator>"
        f"<pubDate>Mon, {n + 1:02d} Jan 2024</pubDate></item>"
        for n in range(NEWS)
    )
    space = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
    declaration = '<?xml version="1.0" encoding="iso-8859-1"?>'
    text = f"{declaration}<rss {space}><channel>{entries}</channel></rss>"
    return web.Response(body=text.encode("iso-8859-1"), content_type="application/rss+xml")


@routes.get("/prices.csv")
async def prices(_: web.Request) -> web.Response:
    """A list as a spreadsheet writes it; a price that is missing stands on the book's own page."""
    rows = (f"{n};'Offer {n}; “naïve”';{'' if n % 4 == 3 else f'£{n}.99'}" for n in range(PRICES))
    return web.Response(text="\r\n".join(rows), content_type="text/csv")


@routes.get("/news/{number}")
async def news(request: web.Request) -> web.Response:
    number = int(request.match_info["number"])
    related = "".join(
        f'<a class="related" href="/news/{(number + n) % NEWS}">…</a>' for n in (1, 2)
    )
    return page(
        f"News {number}", f"<div class='body'><p>First.</p><p>Part {number}.</p></div>{related}"
    )


@routes.get("/stock/{number}")
async def crate(request: web.Request) -> web.Response:
    """A crate in the stockroom: without the key it is refused; some are heavy, some are empty."""
    if request.headers.get("X-Key") != KEY:
        return web.Response(status=403, text="no key")
    number = int(request.match_info["number"])
    links = [
        f'<a href="/stock/{n}">{n}</a>' for n in (2 * number + 1, 2 * number + 2) if n < CRATES
    ]
    weight = "" if number % 5 == 4 else f"<b>{number * 1.5} kg</b>"
    return page(f"Crate {number}", f"<h2>Crate {number}</h2>{weight}{''.join(links)}")
