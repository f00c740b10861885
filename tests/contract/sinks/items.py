"""Items for tests, and the processes that write them."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skitter.sinks import Item, read_items
from tests.servers.programs import die_with_parent

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]


def make_item(identity: str, job: str = "books", kind: str = "Book", **data: Any) -> Item:
    url = f"https://books.example/{identity}"
    return Item(id=identity, job=job, spider="books", url=url, kind=kind, data=data, worker="w1")


def ids(url: str, **only: str) -> list[str]:
    return [item.id for item in read_items(url, **only)]


@contextmanager
def writer(url: str, name: str, *, puts: int, size: int) -> Iterator[subprocess.Popen[str]]:
    """A process that puts items, and prints the ids of each put when it has returned."""
    command = [sys.executable, "-m", "tests.contract.sinks.writer", url, name, str(puts), str(size)]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=die_with_parent,  # noqa: PLW1509 - one call to the kernel
    )
    with process:
        try:
            yield process
        finally:
            process.kill()
