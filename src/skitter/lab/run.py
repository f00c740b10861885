"""The lab in this process's loop: bind, serve, judge, and end with nothing left behind."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Self, TypeVar

from skitter.lab.demo_spec import check_version
from skitter.lab.desk import Desk
from skitter.lab.referee import Judging, Referee
from skitter.lab.refusal import LabSpecError
from skitter.lab.server import Connection
from skitter.lab.site import Site
from skitter.lab.spec import WebSpec
from skitter.lab.web import Web

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable, Iterator, Sequence
    from types import TracebackType

    from skitter.lab.graph import Graph
    from skitter.lab.verdict import Verdict

    Row = dict[str, Any]

Result = TypeVar("Result")


class LabAddress:
    """How a lab is reached, whether it runs in this process or in another."""

    def __init__(self, spec: WebSpec, *, host: str, port: int) -> None:
        self.web = Web(spec)
        self.host = host
        self.port = port

    def url(self, host: str | int, path: str = "/") -> str:
        """The URL of a path on a host, by name or number; `rule` or `proxy` leads there."""
        name = host if isinstance(host, str) else self.web.host(host)
        return f"http://{name}{path}"

    @property
    def version(self) -> int:
        """Which version of the demo sites is served."""
        return self.web.spec.version

    def shop_truth(self, version: int | None = None, *, host: str = "") -> Iterator[Row]:
        """Every product's exact values, at the version that is served unless told otherwise."""
        at = self.version if version is None else check_version(version)
        return self.web.demos.shop_truth(at, host=host)

    def exchange_truth(self, version: int | None = None) -> Iterator[Row]:
        """Every quote's exact values, the same."""
        at = self.version if version is None else check_version(version)
        return self.web.demos.exchange_truth(at)

    @property
    def rule(self) -> str:
        """The name resolution rule that leads every host of this web to the lab."""
        start, end = self.web.spec.host_pattern.split("{n}")
        pattern = f"*{end}" if end.startswith(".") else f"{start}*{end}"
        return f"{pattern}={self._socket}"

    @property
    def proxy(self) -> str:
        """The lab as an HTTP proxy."""
        return f"http://{self._socket}"

    @property
    def _socket(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class LabServer(LabAddress):
    """`async with LabServer(spec) as lab:` serves the web until the block ends."""

    def __init__(
        self,
        spec: WebSpec | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        seeds: Sequence[str] = (),
        prerender: int = 0,
        judging: Judging | None = None,
    ) -> None:
        super().__init__(spec or WebSpec(), host=host, port=port)
        self._site = Site(self.web, prerender=prerender)
        self._referee = Referee(self.web, judging)
        self._desk = Desk(site=self._site, referee=self._referee, seeds=seeds)
        self._connections: set[Connection] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Listen; with port 0, `port` is the one that was free."""
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(
                self._connect, self.host, self.port, backlog=4096
            )
        except OSError as error:
            raise LabSpecError(problem=f"cannot listen on {self._socket}: {error}") from error
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop listening and cut every connection."""
        if self._server is None:
            return
        self._server.close()
        await asyncio.gather(*(connection.close() for connection in list(self._connections)))
        await self._server.wait_closed()
        self._server = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    async def verdict(self, *, coverage: bool = True) -> Verdict:
        """The referee's verdict so far."""
        return await self._desk.verdict(coverage=coverage)

    async def graph(self) -> Graph:
        """What a full crawl from the seeds must fetch."""
        return await self._desk.graph()

    def requests(self) -> Iterable[dict[str, Any]]:
        """The log of requests, if `judging.log` keeps one."""
        return self._referee.log()

    def reset(self) -> None:
        """Forget all requests, and let passing faults begin again."""
        self._desk.reset()

    @property
    def version(self) -> int:
        """Which version of the demo sites is served."""
        return self._site.version

    def set_version(self, version: int) -> None:
        """Serve another version of the demo sites from now on."""
        self._site.version = check_version(version)

    def _connect(self) -> Connection:
        return Connection(
            site=self._site, referee=self._referee, desk=self._desk, everyone=self._connections
        )


def run_fast(main: Coroutine[Any, Any, Result]) -> Result:
    """Run on uvloop where it is installed."""
    try:
        import uvloop  # noqa: PLC0415 - optional: there is none for Windows
    except ImportError:
        return asyncio.run(main)
    return uvloop.run(main)
