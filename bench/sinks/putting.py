"""One measured process: python -m bench.sinks.putting URL ITEMS."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator

from skitter.lab.run import run_fast
from skitter.sinks import Item, open_sink

BATCH, TASKS = 1_000, 4


def products(count: int) -> Iterator[Item]:
    """Items of the size that shops give: about 400 bytes."""
    for n in range(count):
        data = {
            "name": f"Mechanical keyboard {n}",
            "price": f"{n % 1000}.90",
            "currency": "EUR",
            "stock": n % 50,
            "sku": f"KB-{n:08}",
            "brand": "Acme",
            "category": ["Hardware", "Keyboards"],
            "rating": 4.5,
            "description": "A keyboard with keys that click, and lights below them. " * 2,
        }
        url = f"https://shop.example/p/{n}"
        yield Item(f"{n:032x}", "shop", "ecommerce", url, "Product", data, "w1")


async def put_all(url: str, batches: list[list[Item]]) -> None:
    sink = open_sink(url)
    await sink.open()

    async def task() -> None:
        while batches:
            await sink.put(batches.pop())

    await asyncio.gather(*(task() for _ in range(TASKS)))
    await sink.close()


def main() -> None:
    url, count = sys.argv[1], int(sys.argv[2])
    items = list(products(count))
    batches = [items[begin : begin + BATCH] for begin in range(0, count, BATCH)]
    run_fast(put_all(url, [items[:1]]))  # the table is made before
    wall, cpu = time.perf_counter(), time.process_time()
    run_fast(put_all(url, batches))
    seconds, used = time.perf_counter() - wall, time.process_time() - cpu
    figures = {
        "items": count,
        "seconds": round(seconds, 3),
        "items_per_s": round(count / seconds),
        "cpu_us_per_item": round(used / count * 1e6, 1),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
