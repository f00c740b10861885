"""A web server that serves what a test puts in it, and remembers what it was asked."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from types import TracebackType


@dataclass
class Page:
    """An answer; failures is how often 503 comes before it."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    failures: int = 0


class SitemapServer:
    """Answers for every name that `rule` leads to it."""

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self.asked: list[tuple[str, str]] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append((self.path, self.headers["User-Agent"]))
                page = site.pages.get(self.path, Page(status=404))
                page.failures -= 1
                status = 503 if page.failures >= 0 else page.status
                self.send_response(status)
                for name, value in page.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(page.body)))
                self.end_headers()
                self.wfile.write(page.body)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def rule(self) -> str:
        return f"*.example=127.0.0.1:{self._server.server_port}"

    def add(self, path: str, body: bytes | str = b"", **options: Any) -> str:
        """Serve a body at a path; its URL."""
        data = body.encode() if isinstance(body, str) else body
        self.pages[path] = Page(data, **options)
        return f"http://x.example{path}"

    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)


def urlset(*urls: str) -> str:
    return f"<urlset>{''.join(f'<url><loc>{url}</loc></url>' for url in urls)}</urlset>"


def index(*urls: str) -> str:
    entries = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return f"<sitemapindex>{entries}</sitemapindex>"
