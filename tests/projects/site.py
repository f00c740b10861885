"""`python -m tests.projects.site`: a bookshop on the loopback, the same on every visit.

Quotes by page with their authors, books on shelves, sitemaps for both, letters that only a
logged-in member may read, and what `services` adds. A gate of the test's own closes what is behind
the login until it is opened. Prints its port, and ends when its standard input does.
"""

from __future__ import annotations

import asyncio
import gzip
import hmac
import sys
from html import escape
from typing import TYPE_CHECKING

from aiohttp import web

from tests.projects import services

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aiohttp.typedefs import Handler

PAGES, QUOTES, AUTHORS = 8, 5, 7
SHELVES, SHELF_PAGES, BOOKS = 4, 3, 5
LETTERS = 24
LATENCY_S = 0.03
PASSWORD = "paper & ink"
TAGS = ("love", "life", "ink & paper", "crawling")
_KEY = b"the same on every visit"

ASKED: web.AppKey[list[str]] = web.AppKey("asked")
GATE = web.AppKey("gate", asyncio.Event)

routes = web.RouteTableDef()


def html(title: str, body: str, *, status: int = 200) -> web.Response:
    text = f"<!doctype html><html><head><title>{title}</title></head><body>{body}</body></html>"
    return web.Response(text=text, status=status, content_type="text/html")


def sign(text: str) -> str:
    return hmac.digest(_KEY, text.encode(), "sha256").hex()[:32]


def link(path: str, text: str) -> str:
    return f'<a href="{path}">{escape(text)}</a>'


@routes.get("/page/{number}/")
async def quotes(request: web.Request) -> web.Response:
    page = int(request.match_info["number"])
    first = (page - 1) * QUOTES
    body = "".join(_quote(number) for number in range(first, first + QUOTES))
    if page < PAGES:
        body += f'<ul><li class="next">{link(f"/page/{page + 1}/", "Next")}</li></ul>'
    return html(f"Quotes, page {page}", body)


def _quote(number: int) -> str:
    author = number * number % AUTHORS
    tags = "".join(
        f'<a class="tag" href="/tag/{n}">{escape(TAGS[n])}</a>' for n in range(number % 4)
    )
    return (
        f'<div class="quote"><span class="text">“Saying {number}: naïve &amp; true.”</span>'
        f'<small class="author">Author {author}</small>{link(f"/author/{author}", "(about)")}'
        f"{tags}</div>"
    )


@routes.get("/author/{number}")
async def author(request: web.Request) -> web.Response:
    number = int(request.match_info["number"])
    name = f'<h3 class="name">Author {number}</h3>'
    return html(name, f'{name}<span class="born">{1900 + number}</span>')


@routes.get("/shelf/{shelf}/{page}/")
async def shelf(request: web.Request) -> web.Response:
    number, page = int(request.match_info["shelf"]), int(request.match_info["page"])
    paths = [f"/shelf/{n}/1/" for n in range(SHELVES)]
    paths += [f"/shelf/{number}/{page + 1}/"] if page < SHELF_PAGES else []
    paths += [f"/book/{book}" for book in _books(number, page)]
    paths += ["/staff/", "/shelf/staff/", f"/book/{number}?ref=shelf#top"]
    return html(f"Shelf {number}", "".join(link(path, path) for path in paths))


def _books(shelf: int, page: int) -> Iterable[int]:
    first = (shelf * SHELF_PAGES + page - 1) * BOOKS
    return range(first, first + BOOKS)


@routes.get("/book/{number}")
async def book(request: web.Request) -> web.Response:
    number = int(request.match_info["number"])
    price = f"£{number % 10}.{number % 4}5" if number % 10 else "£0"
    body = f'<h1>Book {number}</h1><p class="price">{price}</p>'
    shelf = number // BOOKS // SHELF_PAGES
    return html(f"Book {number}", f'{body}<p class="shelf">Shelf {shelf}</p>{link("/", "Home")}')


@routes.get("/robots.txt")
async def robots(request: web.Request) -> web.Response:
    rules = "User-agent: *\nDisallow: /staff/\nDisallow: /letters/secret\n"
    return web.Response(text=f"{rules}Sitemap: http://{request.host}/sitemap.xml\n")


@routes.get("/sitemap.xml")
async def sitemaps(request: web.Request) -> web.Response:
    names = ("sitemap-books.xml.gz", "sitemap-authors.xml", "other.xml")
    return _sitemap(request, "sitemapindex", "sitemap", names)


@routes.get("/sitemap-books.xml.gz")
async def book_map(request: web.Request) -> web.Response:
    count = SHELVES * SHELF_PAGES * BOOKS
    plain = _sitemap(request, "urlset", "url", [f"book/{number}" for number in range(count)])
    assert isinstance(plain.body, bytes)
    return web.Response(body=gzip.compress(plain.body, mtime=0), content_type="application/gzip")


@routes.get("/sitemap-authors.xml")
async def author_map(request: web.Request) -> web.Response:
    paths = [f"author/{number}" for number in range(AUTHORS)] + ["staff/", "page/1/"]
    return _sitemap(request, "urlset", "url", paths)


def _sitemap(request: web.Request, element: str, entry: str, paths: Iterable[str]) -> web.Response:
    locations = (f"<loc>http://{request.host}/{path}</loc>" for path in paths)
    entries = "".join(f"<{entry}>{location}</{entry}>" for location in locations)
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    body = f'<?xml version="1.0"?><{element} xmlns="{space}">{entries}</{element}>'
    return web.Response(body=body.encode(), content_type="application/xml")


@routes.get("/login")
async def login_form(_: web.Request) -> web.Response:
    """The form's token fits the visitor's cookie, and no other."""
    token = f'<input type="hidden" name="token" value="{sign("visitor 1")}">'
    fields = '<input name="user"><input name="password" type="password">'
    form = f'<form method="post" action="/login">{token}{fields}<input type="submit"></form>'
    answer = html("Log in", form)
    answer.set_cookie("visitor", "1")
    return answer


@routes.post("/login")
async def log_in(request: web.Request) -> web.Response:
    form = await request.post()
    fits = form.get("token") == sign(f"visitor {request.cookies.get('visitor')}")
    if not fits or form.get("user") != "reader" or form.get("password") != PASSWORD:
        return html("Refused", "<h1>Refused</h1>", status=403)
    answer = web.Response(status=302, headers={"Location": "/members/"})
    answer.set_cookie("session", sign("reader"), httponly=True)
    return answer


@routes.get("/members/")
async def members(request: web.Request) -> web.Response:
    if not _is_member(request):
        return html("Members only", "<h1>Members only</h1>", status=403)
    items = "".join(f"<li>{link(f'/letters/{n}', f'Letter {n}')}</li>" for n in range(LETTERS))
    return html("Members", f"<h1>Welcome, reader</h1><ul>{items}</ul>")


@routes.get("/letters/{number}")
async def letter(request: web.Request) -> web.Response:
    """A letter for members; one of them was taken away, and is refused even to them."""
    number = int(request.match_info["number"])
    if not _is_member(request) or number == 13:
        return html("Members only", "<h1>Members only</h1>", status=403)
    return html(f"Letter {number}", f"<p>Dear reader, this is letter {number}.</p>")


def _is_member(request: web.Request) -> bool:
    return request.cookies.get("session") == sign("reader")


@routes.post("/gate/{move}")
async def move_gate(request: web.Request) -> web.Response:
    gate = request.app[GATE]
    gate.set() if request.match_info["move"] == "open" else gate.clear()
    return web.Response()


@routes.get("/asked")
async def asked(request: web.Request) -> web.Response:
    """The paths that were asked for so far, in order."""
    return web.json_response(request.app[ASKED])


@web.middleware
async def take_time(request: web.Request, handler: Handler) -> web.StreamResponse:
    request.app[ASKED].append(request.path)
    await asyncio.sleep(LATENCY_S)
    if request.path.startswith(("/members/", "/letters/")):
        await request.app[GATE].wait()
    return await handler(request)


async def serve() -> None:
    app = web.Application(middlewares=[take_time])
    app[ASKED], app[GATE] = [], asyncio.Event()
    app[GATE].set()
    app.add_routes(routes)
    app.add_routes(services.routes)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve())
