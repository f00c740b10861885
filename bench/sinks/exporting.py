"""A million items to Parquet and CSV by `skitter export`: memory, time, and whether all is there.

What comes back is compared with what was stored, value by value, by a digest over all items in
their order: the stored ones as they are made, the exported ones as they are read.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
import time
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from bench.sinks.putting import products, put_all
from skitter.lab.run import run_fast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

BATCH = 1_000
NAMES = (
    *("_id", "_url", "name", "price", "currency", "stock", "sku", "brand", "category", "rating"),
    "description",
)
_CHILD = (
    "import sys; from skitter.cli.main import app\n"
    "try: app(sys.argv[1:])\n"
    "finally: print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
)


def measure_export(count: int) -> dict[str, Any]:
    """Store, export twice, read back; the figures of the worse of the two forms."""
    with tempfile.TemporaryDirectory(prefix="skitter-bench-") as name:
        url = f"sqlite:{Path(name) / 'items.db'}"
        run_fast(put_all(url, _batches(count)))
        truth = _digest(_truth(count))
        runs = [_export(url, Path(name) / f"items.{form}", truth) for form in READERS]
    return {
        "export_items": count,
        "export_rss_mb": max(run["rss_mb"] for run in runs),
        "export_equal": all(run["equal"] for run in runs),
        **{f"export_{run['form']}_s": run["seconds"] for run in runs},
    }


def _batches(count: int) -> Iterator[list[Any]]:
    batch = []
    for item in products(count):
        batch.append(item)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _export(url: str, path: Path, truth: str) -> dict[str, Any]:
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, "export", "--from", url, str(path)],
        check=True,
        capture_output=True,
        text=True,
        timeout=3600,
    )
    run = {
        "export": path.suffix[1:],
        "form": path.suffix[1:],
        "seconds": round(time.perf_counter() - begun, 1),
        "rss_mb": round(int(done.stdout.split()[-1]) / 1024, 1),
        "size_mb": round(path.stat().st_size / 1024**2, 1),
        "equal": _digest(READERS[path.suffix[1:]](path)) == truth,
    }
    print(json.dumps(run), flush=True)
    return run


def _truth(count: int) -> Iterator[list[Any]]:
    for item in products(count):
        yield [item.id, item.url, *(item.data[name] for name in NAMES[2:])]


def _in_parquet(path: Path) -> Iterator[list[Any]]:
    for batch in pq.ParquetFile(path).iter_batches(batch_size=5_000, columns=[*NAMES]):
        for row in batch.to_pylist():
            yield [json.loads(row[name]) if name == "category" else row[name] for name in NAMES]


def _in_csv(path: Path) -> Iterator[list[Any]]:
    read: dict[str, Callable[[str], Any]] = {
        "stock": int,
        "rating": float,
        "category": json.loads,
    }
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield [read.get(name, str)(row[name]) for name in NAMES]


def _digest(rows: Iterable[list[Any]]) -> str:
    digest = blake2b(digest_size=16)
    for row in rows:
        digest.update(json.dumps(row).encode())
    return digest.hexdigest()


READERS: dict[str, Callable[[Path], Iterator[list[Any]]]] = {
    "parquet": _in_parquet,
    "csv": _in_csv,
}
