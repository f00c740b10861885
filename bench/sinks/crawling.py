"""A crawl by the fast engine, which knows a sink `null:` too: python -m bench.sinks.crawling …"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from bench.crawl import fast
from bench.crawl.ordered import ITEMS
from skitter.sinks import sink

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skitter.sinks import Item


class NullSink:
    """Takes everything at once, and tells at its end which pages had items: none may be missing."""

    def __init__(self) -> None:
        self._urls: list[str] = []

    async def open(self) -> None: ...

    async def put(self, items: Sequence[Item]) -> None:
        self._urls += [item.url for item in items]

    async def close(self) -> None:
        lines = (json.dumps({"url": url}) for url in self._urls)
        Path(ITEMS).write_text("\n".join(lines), encoding="utf-8")
        self._urls = []


def main() -> None:
    sink.SINKS["null"] = lambda _url: NullSink()
    fast.main()


if __name__ == "__main__":
    main()
