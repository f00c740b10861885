"""Items for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skitter.sinks import Item, read_items

ROOT = Path(__file__).parents[3]


def make_item(identity: str, job: str = "books", kind: str = "Book", **data: Any) -> Item:
    url = f"https://books.example/{identity}"
    return Item(id=identity, job=job, spider="books", url=url, kind=kind, data=data, worker="w1")


def ids(url: str, **only: str) -> list[str]:
    return [item.id for item in read_items(url, **only)]
