"""A small site with one page for each thing that an engine has to get right."""

from __future__ import annotations

import gzip
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import brotli  # type: ignore[import-untyped]

TOLD = ("Cookie", "Referer", "User-Agent", "Accept", "Accept-Language", "Accept-Encoding",
        "Authorization", "X-Custom", "Content-Type")  # fmt: skip
HTML = "text/html; charset=utf-8"
LINKS = "".join(f"<a href='/page/{n}'>page {n}</a>" for n in range(5))
PAGES: dict[str, tuple[int, dict[str, str], bytes]] = {
    "/": (200, {"Content-Type": HTML}, f"<title>home</title>{LINKS}".encode()),
    "/gzip": (200, {"Content-Type": HTML, "Content-Encoding": "gzip"},
              gzip.compress(b"<title>zipped</title>")),
    "/two-gzips": (200, {"Content-Type": HTML, "Content-Encoding": "gzip"},
                   gzip.compress(b"<title>one") + gzip.compress(b"two</title>")),
    "/torn-gzip": (200, {"Content-Type": HTML, "Content-Encoding": "gzip"},
                   gzip.compress(b"<title>torn</title>" + bytes(range(256)) * 40)[:-100]),
    "/deflate": (200, {"Content-Type": HTML, "Content-Encoding": "deflate"},
                 zlib.compress(b"<title>deflated</title>")),
    "/br": (200, {"Content-Type": HTML, "Content-Encoding": "br"},
            brotli.compress(b"<title>brotli</title>")),
    "/bomb": (200, {"Content-Type": HTML, "Content-Encoding": "gzip"},
              gzip.compress(b"x" * 5_000_000)),
    "/long": (200, {"Content-Type": HTML}, b"x" * 300_000),
    "/latin": (200, {"Content-Type": "text/html; charset=iso-8859-1"},
               "<title>für</title>".encode("latin-1")),
    "/meta-charset": (200, {"Content-Type": "text/html"},
                      "<meta charset=windows-1251><title>да</title>".encode("cp1251")),
    "/bom": (200, {"Content-Type": "text/html; charset=ascii"},
             "<title>mit Bom ä</title>".encode("utf-8-sig")),
    "/wrong-charset": (200, {"Content-Type": "text/html; charset=nonsense"},
                       "<title>ä</title>".encode()),
    "/json": (200, {"Content-Type": "application/json"}, b'{"a": [1, 2]}'),
    "/feed": (200, {"Content-Type": "application/rss+xml"},
              b"<rss><channel><item><title>t</title></item></channel></rss>"),
    "/moved": (301, {"Location": "/page/1#part"}, b""),
    "/moved-relative": (302, {"Location": "page/2?x=1", "Set-Cookie": "hop=1; Path=/"}, b""),
    "/moved-twice": (302, {"Location": "//{host}/moved"}, b""),
    "/moved-keeping": (307, {"Location": "/echo"}, b""),
    "/moved-badly": (302, {"Location": "mailto:a@b.example"}, b"<title>stays</title>"),
    "/loop": (302, {"Location": "/loop?again=1"}, b""),
    "/refresh": (200, {"Content-Type": HTML},
                 b"<meta http-equiv='Refresh' content='0; url=/page/3'><title>wait</title>"),
    "/slow-refresh": (200, {"Content-Type": HTML},
                      b"<meta http-equiv=refresh content='500; url=/page/3'><title>slow</title>"),
    "/base": (200, {"Content-Type": HTML},
              b"<base href='/page/'><title>based</title><a href='4'>four</a>"),
    "/cookie": (200, {"Content-Type": HTML, "Set-Cookie": "taste=sweet; Path=/"},
                b"<title>cookie</title><a href='/echo'>echo</a>"),
    "/no-referrer": (200, {"Content-Type": HTML, "Referrer-Policy": "no-referrer"},
                     b"<title>quiet</title><a href='/echo'>echo</a>"),
    "/missing": (404, {"Content-Type": HTML}, b"<title>gone</title>"),
    "/teapot": (418, {"Content-Type": HTML}, b"<title>teapot</title>"),
    "/no-content": (204, {}, b""),
    "/image": (200, {"Content-Type": "image/png"}, b"\x89PNG\0\1\2"),
}  # fmt: skip


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Site

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        told = {name: self.headers[name] for name in TOLD if name in self.headers}
        self.server.asked.append((self.command, self.path, told, body))
        status, headers, content = self.page(told, body)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value.replace("{host}", self.headers["Host"]))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_POST = do_HEAD = answer  # noqa: N815

    def page(self, told: dict[str, str], body: bytes) -> tuple[int, dict[str, str], bytes]:
        path = self.path.partition("?")[0]
        if path in PAGES:
            return PAGES[path]
        if path == "/echo":
            text = f"<title>echo</title><pre>{self.command} {sorted(told.items())} {body!r}</pre>"
            return 200, {"Content-Type": HTML}, text.encode()
        text = f"<title>{self.path}</title><a href='{path}/next'>next</a>"
        return 200, {"Content-Type": HTML}, text.encode()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class Site(ThreadingHTTPServer):
    """The site, in threads of its own; what it was asked, in order."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()
