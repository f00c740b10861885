"""One measured process: python -m bench.sinks.putting URL ITEMS."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from collections.abc import Iterable, Iterator

from skitter.engine.collecting import spare_the_collector
from skitter.lab.run import run_fast
from skitter.sinks import Item, identify_by_key, open_sink, shape_of
from skitter.spiders.items import Product

BATCH, TASKS = 1_000, 4
SHAPE = shape_of(Product)


def products(count: int) -> Iterator[Item]:
    """Items as the spiders give them, of the size that shops have: about 400 bytes."""
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
        name = identify_by_key(("shop.example", f"KB-{n:08}"), spider="ecommerce", kind="Product")
        url = f"https://shop.example/p/{n}"
        item = Item(name, "shop", "ecommerce", url, "Product", data, "w1")
        item.fetched_at, item.parser = "2026-11-16T08:00:00.000Z", "skitter/0.1.0"
        item.shape = SHAPE
        yield item


async def put_all(url: str, batches: Iterable[list[Item]]) -> None:
    """Put batches by a few tasks at a time."""
    sink = open_sink(url)
    await sink.open()
    left = iter(batches)

    async def task() -> None:
        for batch in left:
            await sink.put(batch)

    await asyncio.gather(*(task() for _ in range(TASKS)))
    await sink.close()


def main() -> None:
    url, count = sys.argv[1], int(sys.argv[2])
    items = list(products(count))
    batches = [items[begin : begin + BATCH] for begin in range(0, count, BATCH)]
    run_fast(put_all(url, [items[:1]]))  # the table is made before
    gc.freeze()
    spare_the_collector()  # as a worker does
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
