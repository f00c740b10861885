"""Where the referee is asked over HTTP: host `referee.lab`, or `/__referee__/` on any host.

GET  /__referee__/verdict      the verdict as JSON; ?coverage=0 leaves out the graph's walk
GET  /__referee__/table        the verdict for people
GET  /__referee__/requests     the log as JSON lines, if one is kept
GET  /__referee__/graph        the URLs that a full crawl must fetch, one per line
GET  /__referee__/spec         what the web is like, as JSON
GET  /__referee__/truth/shop   every product's exact values as JSON lines; ?version= and ?host=
GET  /__referee__/truth/exchange   every quote's; ?version=
GET  /__referee__/version      which version of the demo sites is served
POST /__referee__/version?to=3 serve another one
POST /__referee__/reset        forget all requests, and let passing faults begin again
"""

from __future__ import annotations

import asyncio
import json
import re
from io import StringIO
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from rich.console import Console

from skitter.lab.answer import Answer, text
from skitter.lab.demo_spec import check_version
from skitter.lab.graph import Graph, walk
from skitter.lab.refusal import LabSpecError, refuse
from skitter.lab.spec import spec_values

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from skitter.lab.referee import Referee
    from skitter.lab.site import Site
    from skitter.lab.verdict import Verdict
    from skitter.lab.wire import Request

    Handler = Callable[[Request], Awaitable[Answer]]

HOST = "referee.lab"
PREFIX = "/__referee__/"
_ROWS_AT_A_TIME = 50


class Desk:
    """Answers questions about a run; its own traffic is not judged."""

    def __init__(self, *, site: Site, referee: Referee, seeds: Sequence[str] = ()) -> None:
        self._site = site
        self._referee = referee
        self._seeds = tuple(seeds)
        self._graph: Graph | None = None
        self._posts: dict[str, Handler] = {"reset": self._reset, "version": self._set_version}
        self._gets: dict[str, Handler] = {
            "verdict": self._verdict,
            "table": self._table,
            "requests": self._requests,
            "graph": self._pages,
            "spec": self._spec,
            "truth/shop": self._shop_truth,
            "truth/exchange": self._exchange_truth,
            "version": self._version,
        }

    def takes(self, request: Request) -> bool:
        """Whether a request is for the desk and not for the web."""
        return request.host == HOST or request.path.startswith(PREFIX)

    async def answer(self, request: Request) -> Answer:
        """The answer to a question."""
        question = request.path.removeprefix(PREFIX).strip("/")
        answers = self._posts if request.method == "POST" else self._gets
        if question not in answers:
            known = f"GET {', '.join(self._gets)}, or POST {', '.join(self._posts)}"
            return text(404, known)
        try:
            return await answers[question](request)
        except LabSpecError as error:
            return text(400, str(error))

    async def verdict(self, *, coverage: bool = True) -> Verdict:
        """The verdict so far."""
        return self._referee.verdict(await self.graph() if coverage else None)

    async def graph(self) -> Graph:
        """The graph from the seeds, walked once, beside the loop so that serving goes on."""
        if self._graph is None:
            self._graph = await asyncio.to_thread(walk, self._site.web, self._seeds)
        return self._graph

    def reset(self) -> None:
        """Begin anew."""
        self._referee.reset()
        self._site.forget_attempts()

    async def _reset(self, _request: Request) -> Answer:
        self.reset()
        return _json({"reset": True})

    async def _verdict(self, request: Request) -> Answer:
        coverage = "coverage=0" not in request.query
        return _json((await self.verdict(coverage=coverage)).to_json())

    async def _table(self, _request: Request) -> Answer:
        return text(200, _printed(await self.verdict()))

    async def _requests(self, _request: Request) -> Answer:
        lines = "".join(json.dumps(entry) + "\n" for entry in self._referee.log())
        return Answer(body=lines.encode(), content_type="application/x-ndjson")

    async def _pages(self, _request: Request) -> Answer:
        return text(200, "\n".join(sorted((await self.graph()).pages)))

    async def _spec(self, _request: Request) -> Answer:
        return _json(spec_values(self._site.web.spec))

    async def _version(self, _request: Request) -> Answer:
        return _json({"version": self._site.version})

    async def _set_version(self, request: Request) -> Answer:
        self._site.version = _number(request, "to", default=self._site.version)
        return await self._version(request)

    async def _shop_truth(self, request: Request) -> Answer:
        version = _number(request, "version", default=self._site.version)
        host = parse_qs(request.query).get("host", [""])[0]
        return _json_lines(self._site.web.demos.shop_truth(version, host=host))

    async def _exchange_truth(self, request: Request) -> Answer:
        version = _number(request, "version", default=self._site.version)
        return _json_lines(self._site.web.demos.exchange_truth(version))


def _number(request: Request, name: str, *, default: int) -> int:
    """A version in the query."""
    given = parse_qs(request.query).get(name)
    if given is None:
        return default
    refuse({f"{name} must be a number": not re.fullmatch(r"\d{1,9}", given[0])})
    return check_version(int(given[0]))


def _json_lines(rows: Iterator[dict[str, Any]]) -> Answer:
    """Rows made while they are sent, for there may be millions."""

    def pieces() -> Iterator[bytes]:
        while batch := list(islice(rows, _ROWS_AT_A_TIME)):
            yield "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in batch).encode()

    return Answer(content_type="application/x-ndjson", pieces=pieces())


def _json(value: object) -> Answer:
    return Answer(body=json.dumps(value).encode() + b"\n", content_type="application/json")


def _printed(verdict: Verdict) -> str:
    out = StringIO()
    Console(file=out, width=120).print(verdict.table())
    return out.getvalue()
