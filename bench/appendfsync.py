"""What `appendfsync always` costs against `everysec` and `no`, on the embedded server.

For each shape of load (writes per batch, clients at once) the three servers take turns, round by
round, so that a noisy neighbour hits all alike; medians over the rounds. Wall time and the
server's CPU per write; the client is part of the wall time. Then each server is killed (-9) while
it writes as fast as it can, and what it had acknowledged and no longer knows is counted.
The last line is one JSON object. Run: python bench/appendfsync.py [--rounds N] [--folder DIR]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import psutil
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from skitter.frontier.embedded import EmbeddedServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skitter.frontier.embedded import Fsync

CHOICES: tuple[Fsync, ...] = ("always", "everysec", "no")
VALUE = b"v" * 200
PAD = b"p" * 2000
NOISE = b"z" * (32 << 20)


class Shape(NamedTuple):
    batch: int
    clients: int
    batches: int

    @property
    def name(self) -> str:
        return f"batch {self.batch}, {self.clients} client{'s' if self.clients > 1 else ''}"

    @property
    def writes(self) -> int:
        return self.batch * self.clients * self.batches


SHAPES = (
    Shape(1, 1, 400),
    Shape(1, 8, 100),
    Shape(30, 1, 200),
    Shape(300, 1, 40),
    Shape(300, 4, 10),
)


@dataclass
class Samples:
    wall_us: list[float] = field(default_factory=list)
    cpu_us: list[float] = field(default_factory=list)

    def medians(self) -> tuple[float, float]:
        return statistics.median(self.wall_us), statistics.median(self.cpu_us)


async def _send(client: Redis, shape: Shape, prefix: str) -> None:
    for number in range(shape.batches):
        async with client.pipeline(transaction=False) as pipeline:
            for index in range(shape.batch):
                pipeline.set(f"{prefix}:{number % 10}:{index}", VALUE)
            await pipeline.execute()


async def _measure(server: EmbeddedServer, shape: Shape, samples: Samples) -> None:
    clients = [Redis.from_url(server.url) for _ in range(shape.clients)]
    for client in clients:
        await client.ping()
    process = psutil.Process(server.pid)
    cpu_s, wall_s = _cpu_s(process), time.perf_counter()
    await asyncio.gather(*(_send(each, shape, f"k{n}") for n, each in enumerate(clients)))
    samples.wall_us.append((time.perf_counter() - wall_s) * 1e6 / shape.writes)
    samples.cpu_us.append((_cpu_s(process) - cpu_s) * 1e6 / shape.writes)
    for client in clients:
        await client.aclose()


def _cpu_s(process: psutil.Process) -> float:
    """From the scheduler, to the nanosecond, for all threads: cpu_times() counts in 10 ms."""
    tasks = Path(f"/proc/{process.pid}/task")
    if not tasks.exists():
        times = process.cpu_times()
        return float(times.user + times.system)
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()) / 1e9


async def _run(folder: Path, rounds: int) -> dict[Shape, dict[str, tuple[float, float]]]:
    results = {shape: {choice: Samples() for choice in CHOICES} for shape in SHAPES}
    with ExitStack() as stack:
        servers = {
            choice: stack.enter_context(EmbeddedServer(folder / choice, appendfsync=choice))
            for choice in CHOICES
        }
        for _ in range(rounds):
            for shape in SHAPES:
                for choice, server in servers.items():
                    await _measure(server, shape, results[shape][choice])
    return {
        shape: {choice: samples.medians() for choice, samples in row.items()}
        for shape, row in results.items()
    }


async def _write_until_cut(client: Redis) -> int:
    """Count up in batches until the server is gone; the last number that was acknowledged."""
    acknowledged = 0
    try:
        while True:
            async with client.pipeline(transaction=False) as pipeline:
                for index in range(50):
                    pipeline.set(f"pad:{index}", PAD)
                    pipeline.incr("n")
                acknowledged = (await pipeline.execute())[-1]
    except RedisError:
        return acknowledged


@contextmanager
def _busy_disk(folder: Path) -> Iterator[None]:
    """Somebody else's large files on the same disk: an fsync then takes longer than a moment."""
    done = threading.Event()

    def write() -> None:
        with (folder / "noise").open("wb", buffering=0) as file:
            while not done.is_set():
                file.seek(0)
                file.write(NOISE)
                os.fsync(file.fileno())

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


async def _worst_moment(server: EmbeddedServer) -> None:
    """While an fsync runs in the background, if it ever does: the server then holds writes back."""
    deadline = time.monotonic() + random.uniform(1.5, 3.0)
    async with Redis.from_url(server.url) as client:
        await asyncio.sleep(0.3)
        while time.monotonic() < deadline:
            if (await client.info("persistence"))["aof_pending_bio_fsync"]:
                return


async def _lose(folder: Path, choice: Fsync) -> int:
    """Kill the server in full flight; how many acknowledged writes are gone after a restart."""
    with tempfile.TemporaryDirectory(dir=folder) as fresh:
        server = EmbeddedServer(fresh, appendfsync=choice)
        with server, _busy_disk(folder):
            client = Redis.from_url(server.url, retry=Retry(NoBackoff(), 0))
            writing = asyncio.create_task(_write_until_cut(client))
            await _worst_moment(server)
            psutil.Process(server.pid).kill()
            acknowledged = await writing
            await asyncio.to_thread(server.ensure)
            kept = int(await client.get("n") or 0)
            await client.aclose()
    return max(0, acknowledged - kept)


async def _losses(folder: Path, kills: int) -> dict[str, list[int]]:
    lost: dict[str, list[int]] = {choice: [] for choice in CHOICES}
    for _ in range(kills):
        for choice in CHOICES:
            lost[choice].append(await _lose(folder, choice))
    return lost


def _print_table(results: dict[Shape, dict[str, tuple[float, float]]]) -> None:
    head = "".join(f"{choice:>20}" for choice in CHOICES)
    print(f"{'µs per write: wall / server CPU':<34}{head}")
    for shape, row in results.items():
        cells = (f"{row[choice][0]:.1f} / {row[choice][1]:.1f}" for choice in CHOICES)
        print(f"{shape.name:<34}" + "".join(f"{cell:>20}" for cell in cells))


def _print_losses(lost: dict[str, list[int]]) -> None:
    cells = (f"{sum(lost[choice])} / {max(lost[choice])}" for choice in CHOICES)
    head = f"lost in {len(lost['always'])} kills: sum / worst"
    print(f"{head:<34}" + "".join(f"{cell:>20}" for cell in cells))


def _as_json(
    results: dict[Shape, dict[str, tuple[float, float]]], lost: dict[str, list[int]], rounds: int
) -> str:
    rows = [
        {
            "batch": shape.batch,
            "clients": shape.clients,
            "wall_us": {choice: round(row[choice][0], 2) for choice in CHOICES},
            "server_cpu_us": {choice: round(row[choice][1], 2) for choice in CHOICES},
        }
        for shape, row in results.items()
    ]
    report = {"bench": "appendfsync", "rounds": rounds, "results": rows, "lost_at_kill": lost}
    return json.dumps(report)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--folder", type=Path, help="on the disk to measure (default: temporary)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder, prefix="appendfsync-") as folder:
        results = asyncio.run(_run(Path(folder), arguments.rounds))
        _print_table(results)
        lost = asyncio.run(_losses(Path(folder), arguments.kills))
    _print_losses(lost)
    print(_as_json(results, lost, arguments.rounds))


if __name__ == "__main__":
    main()
