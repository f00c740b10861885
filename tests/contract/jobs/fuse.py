"""Crashes at a chosen call to the servers, in a process that goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.contract.jobs.bench import Bench


class Crash(BaseException):
    """The end of a process, as far as servers can tell."""


class Fuse:
    """Lets so many calls to the servers through; the one after them is done, and nobody hears."""

    def __init__(self, bench: Bench, calls: int) -> None:
        self.left = calls
        self._run = bench.frontier.shards.run
        self._write = bench.store.write
        bench.frontier.shards.run = self.run  # type: ignore[method-assign]
        bench.store.write = self.write  # type: ignore[method-assign]
        self._bench = bench

    async def run(self, *args: Any, **kwargs: Any) -> Any:
        found = await self._run(*args, **kwargs)
        self._burn()
        return found

    async def write(self, query: Any) -> Any:
        found = await self._write(query)
        self._burn()
        return found

    def _burn(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Crash

    def mend(self) -> None:
        self._bench.frontier.shards.run = self._run  # type: ignore[method-assign]
        self._bench.store.write = self._write  # type: ignore[method-assign]
