"""`python -m tests.acceptance.conformance.site`: a server that answers as the path asks it to.

Every request is written down as it came, for the test to compare. Names do not matter: all of them
lead here. Prints its port, and ends when its standard input does.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.acceptance.conformance import bodies

if TYPE_CHECKING:
    from aiohttp.typedefs import Handler

ASKED: web.AppKey[list[dict[str, Any]]] = web.AppKey("asked")
VISITS: web.AppKey[Counter[str]] = web.AppKey("visits")
USER, PASSWORD = "reader", "paper & ink"

routes = web.RouteTableDef()


def html(body: str, *, head: str = "", status: int = 200) -> web.Response:
    text = f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"
    return web.Response(text=text, status=status, content_type="text/html")


@routes.route("*", "/echo{tail:.*}")
async def echo(request: web.Request) -> web.Response:
    """What was asked, as JSON."""
    body = (await request.read()).decode("latin-1")
    said = {"method": request.method, "path": request.path_qs, "body": body}
    said["from"] = str(request.remote)
    return web.json_response(said | {"cookies": dict(sorted(request.cookies.items()))})


@routes.get("/links")
async def links(request: web.Request) -> web.Response:
    """A page with the links that `to` names, in their order; `policy` is its referrer policy."""
    return _linking(request)


def _linking(request: web.Request) -> web.Response:
    anchors = "".join(f'<a href="{to}">{to}</a> ' for to in request.query.getall("to", []))
    answer = html(f"<h1>{request.query.get('title', 'Links')}</h1>{anchors}")
    if policy := request.query.get("policy"):
        answer.headers["Referrer-Policy"] = policy
    return answer


@routes.get("/tree/{tail:.*}")
async def tree(request: web.Request) -> web.Response:
    """Each page leads to two more, without end."""
    here = request.path.rstrip("/")
    return html(f'<h1>{here}</h1><a href="{here}/a">a</a><a href="{here}/b">b</a>')


@routes.route("*", "/status/{status}")
async def status(request: web.Request) -> web.Response:
    """A status; with `first`, only for so many visits, and 200 after them."""
    wanted, visits = int(request.match_info["status"]), request.app[VISITS]
    visits[request.path_qs] += 1
    if visits[request.path_qs] > int(request.query.get("first", 1_000_000)):
        wanted = 200
    headers = {"Retry-After": request.query["after"]} if "after" in request.query else {}
    text = "" if wanted in {204, 304} else f"status {wanted}"
    return web.Response(text=text, status=wanted, headers=headers)


@routes.route("*", "/redirect/{status}")
async def redirect(request: web.Request) -> web.Response:
    """Leads to `to`, exactly as it is written, and sets the cookies `c`."""
    headers = [("Location", request.query["to"])] if "to" in request.query else []
    headers += [("Set-Cookie", cookie) for cookie in request.query.getall("c", [])]
    return web.Response(status=int(request.match_info["status"]), headers=headers, text="moved")


@routes.get("/hops/{count}")
async def hops(request: web.Request) -> web.Response:
    """So many redirects one after the other, the last one to an echo."""
    left = int(request.match_info["count"])
    to = f"/hops/{left - 1}" if left > 1 else "/echo/there"
    to += f"?{request.query_string}" if request.query_string else ""
    return web.Response(status=302, headers={"Location": to})


@routes.get("/loop")
async def loop(request: web.Request) -> web.Response:
    """Leads to itself."""
    return web.Response(status=302, headers={"Location": request.path_qs})


@routes.get("/refresh")
async def refresh(request: web.Request) -> web.Response:
    content = f"{request.query.get('after', '0')}; url={request.query['to']}"
    meta = f'<meta http-equiv="refresh" content="{content}">'
    return html(
        "soon", head=f"<noscript>{meta}</noscript>" if "noscript" in request.query else meta
    )


@routes.get("/cookies")
async def cookies(request: web.Request) -> web.Response:
    """Sets the cookies `c`, each written as in a header, and leads to the links `to`."""
    answer = _linking(request)
    for cookie in request.query.getall("c", []):
        answer.headers.add("Set-Cookie", cookie)
    return answer


@routes.get("/body/{name}")
async def body(request: web.Request) -> web.Response:
    """One of the odd bodies, with its headers."""
    kind, encoding, content = bodies.BODIES[request.match_info["name"]]
    headers = {"Content-Encoding": encoding} if encoding else {}
    if kind:
        headers["Content-Type"] = kind
    return web.Response(body=content, headers=headers)


@routes.get("/big/{size}")
async def big(request: web.Request) -> web.StreamResponse:
    """So many bytes, with or without (`chunked`) their number said before.

    The connection is not kept: whoever stops reading closes it, and Twisted may use it again while
    it closes, and then send twice.
    """
    size = int(request.match_info["size"])
    answer = web.StreamResponse(headers={"Content-Type": "text/plain"})
    answer.force_close()
    if "chunked" not in request.query:
        answer.content_length = size
    await answer.prepare(request)
    for _ in range(0, size, 1000):
        await answer.write(b"x" * 1000)
    await answer.write_eof()
    return answer


@routes.get("/slow/{ms}")
async def slow(request: web.Request) -> web.Response:
    await asyncio.sleep(int(request.match_info["ms"]) / 1000)
    return html("<h1>slow</h1>")


@routes.get("/raw/{name}")
async def raw(request: web.Request) -> web.Response:
    """Bytes as they are on the wire, and the end of the connection."""
    request.app[VISITS][request.path_qs] += 1
    torn = request.app[VISITS][request.path_qs] <= int(request.query.get("first", 1_000_000))
    if not torn:
        return html("<h1>whole</h1>")
    assert request.transport is not None
    request.transport.write(bodies.RAW[request.match_info["name"]])
    request.transport.close()
    return web.Response()


@routes.get("/auth")
async def auth(request: web.Request) -> web.Response:
    """Wants credentials."""
    if "Authorization" in request.headers:
        return web.json_response({"authorization": request.headers["Authorization"]})
    return web.Response(status=401, headers={"WWW-Authenticate": 'Basic realm="reading room"'})


@routes.get("/login")
async def login_form(_: web.Request) -> web.Response:
    fields = (
        '<input type="hidden" name="token" value="t-1"><input name="user">'
        '<input name="password" type="password"><input type="checkbox" name="stay" checked>'
        '<select name="tongue"><option value="en" selected>E</option><option>de</option></select>'
        '<input type="submit" name="go" value="Log in"><input type="submit" name="no" value="No">'
    )
    answer = html(f'<form method="post" action="login">{fields}</form>')
    answer.set_cookie("visitor", "1")
    return answer


@routes.post("/login")
async def log_in(request: web.Request) -> web.Response:
    form = await request.post()
    fits = form.get("token") == "t-1" and request.cookies.get("visitor") == "1"
    if not fits or (form.get("user"), form.get("password")) != (USER, PASSWORD):
        return html("<h1>Refused</h1>", status=403)
    answer = web.Response(status=302, headers={"Location": "/members"})
    answer.set_cookie("session", "s-1", httponly=True)
    return answer


@routes.get("/members")
async def members(request: web.Request) -> web.Response:
    known = request.cookies.get("session") == "s-1"
    return html(f"<h1>{'Welcome' if known else 'Who are you?'}</h1>", status=200 if known else 403)


@routes.get("/robots.txt")
async def robots(_: web.Request) -> web.Response:
    rules = "User-agent: picky\nDisallow: /echo/\n\nUser-agent: *\nDisallow: /echo/private\n"
    return web.Response(text=rules)


@routes.get("/sitemap.xml")
async def sitemaps(request: web.Request) -> web.Response:
    return _sitemap(request, "sitemapindex", "sitemap", ["/sitemap-a.xml.gz", "/sitemap-b.xml"])


@routes.get("/sitemap-a.xml.gz")
async def packed_sitemap(request: web.Request) -> web.Response:
    plain = _sitemap(request, "urlset", "url", ["/echo/book/1", "/echo/book/2"])
    assert isinstance(plain.body, bytes)
    return web.Response(body=gzip.compress(plain.body, mtime=0), content_type="application/gzip")


@routes.get("/sitemap-b.xml")
async def sitemap(request: web.Request) -> web.Response:
    return _sitemap(request, "urlset", "url", ["/echo/book/3", "/echo/author/1", "/echo/other"])


def _sitemap(request: web.Request, element: str, entry: str, paths: list[str]) -> web.Response:
    content = bodies.sitemap(element, entry, [f"http://{request.host}{path}" for path in paths])
    return web.Response(body=content, content_type="application/xml")


@routes.get("/asked")
async def asked(request: web.Request) -> web.Response:
    """What was asked since the last time, and a clean slate."""
    said = request.app[ASKED].copy()
    request.app[ASKED].clear()
    request.app[VISITS].clear()
    return web.json_response(said)


@web.middleware
async def write_down(request: web.Request, handler: Handler) -> web.StreamResponse:
    if request.path != "/asked":
        entry = {
            "method": request.method,
            "url": f"http://{request.host}{request.raw_path}",
            "headers": [[name.title(), value] for name, value in request.headers.items()],
            "body": (await request.read()).decode("latin-1"),
        }
        request.app[ASKED].append(entry)
    return await handler(request)


async def serve() -> None:
    app = web.Application(middlewares=[write_down])
    app[ASKED] = []
    app[VISITS] = Counter()
    app.add_routes(routes)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(json.dumps(runner.addresses[0][1]), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve())
