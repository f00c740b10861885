"""What the crawlers that are no Scrapy are told, as a file in the folder that they run in."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

ITEMS = "items.jsonl"
CONCURRENCY = 16
_FILE = "order.json"


@dataclass(frozen=True)
class Order:
    """urls: where to begin. all_urls: those and the ones that other copies have."""

    urls: list[str]
    all_urls: list[str]

    @classmethod
    def read(cls) -> Self:
        return cls(**json.loads(Path(_FILE).read_text()))

    def write(self, folder: Path) -> None:
        (folder / _FILE).write_text(json.dumps(asdict(self)))
