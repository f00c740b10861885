"""python -m bench.api [--quick]: many clients beside a busy crawl; JSON lines, figures last."""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from bench.api.clients import JOB, Outcome, ask_all
from bench.api.cluster import Cluster
from skitter.client import Client
from skitter.lab import WebSpec

WARM_S, SAMPLE_S, END_S = 10.0, 1.0, 600.0


def web(*, quick: bool) -> WebSpec:
    """A crawl that its hosts' delays make longer than the asking."""
    pages, delays = (20, (500.0,)) if quick else (170, (800.0, 1_000.0))
    return WebSpec(
        hosts=100, pages=pages, links=8, zipf=0.5, delays_ms=delays, concurrency=(1,),
        latency_ms=(1.0, 30.0),
    )  # fmt: skip


async def trial(cluster: Cluster, *, clients: int, seconds: float) -> dict[str, Any]:
    async with Client(cluster.url, cluster.key) as client:
        seeds = [cluster.lab.url(0)]
        await client.submit({"spider": "links", "id": JOB, "seeds": seeds})
        await _until(client, lambda job: job["figures"]["pages"] > 20)
        await ask_all(cluster.url, cluster.key, clients=clients, seconds=WARM_S)
        samples: list[tuple[float, float]] = []
        watching = asyncio.create_task(_watch(cluster.api.pid, samples))
        before, begun = await client.job(JOB), time.monotonic()
        outcome = await ask_all(cluster.url, cluster.key, clients=clients, seconds=seconds)
        took_s, after = time.monotonic() - begun, await client.job(JOB)
        watching.cancel()
        print(json.dumps({"statuses": outcome.statuses, "failures": outcome.failures}), flush=True)
        pages = after["figures"]["pages"] - before["figures"]["pages"]
        crawl = {"pages_per_s_meanwhile": round(pages / took_s, 1), "still_busy": _busy(after)}
        ended = await _until(client, lambda job: job["state"] == "ended")
        return _asked(outcome, samples) | crawl | _judged(cluster, ended)


async def _watch(pid: int, samples: list[tuple[float, float]]) -> None:
    """Memory in MB and CPU seconds of the API's process, every second."""
    process = psutil.Process(pid)
    while True:
        times = process.cpu_times()
        samples.append((process.memory_info().rss / 1024**2, times.user + times.system))
        await asyncio.sleep(SAMPLE_S)


async def _until(client: Client, condition: Any) -> dict[str, Any]:
    deadline = time.monotonic() + END_S
    while not condition(job := await client.job(JOB)):
        if time.monotonic() > deadline:
            raise TimeoutError(json.dumps(job["figures"]))
        await asyncio.sleep(0.5)
    return job


def _busy(job: dict[str, Any]) -> bool:
    return bool(job["state"] != "ended")


def _asked(outcome: Outcome, samples: list[tuple[float, float]]) -> dict[str, Any]:
    requests = len(outcome.took_ms)
    return {
        "requests": requests,
        "errors": outcome.errors,
        "timeouts": outcome.timeouts,
        "p50_ms": outcome.quantile_ms(0.5),
        "p99_ms": outcome.quantile_ms(0.99),
        "max_ms": outcome.quantile_ms(1.0),
        "rss_first_mb": round(samples[0][0], 1),
        "rss_last_mb": round(samples[-1][0], 1),
        "rss_growth_mb": round(samples[-1][0] - samples[0][0], 1),
        "cpu_ms_per_request": round(1000 * (samples[-1][1] - samples[0][1]) / requests, 2),
    }


def _judged(cluster: Cluster, job: dict[str, Any]) -> dict[str, Any]:
    verdict, figures = cluster.verdict(), job["figures"]
    settled = figures["done"] + figures["buried"] + figures["discarded"]
    return {
        "outcome": job["outcome"],
        "pages": figures["pages"],
        "lost": figures["accepted"] - settled,
        "gaps": verdict.gaps.count,
        "concurrency": verdict.concurrency.count,
        "disallowed": verdict.disallowed.count,
        "duplicates": verdict.duplicates.count,
        "coverage": round(verdict.coverage.share, 4) if verdict.coverage else None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.api")
    parser.add_argument("--quick", action="store_true", help="15 seconds, and a small web")
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=None, help="120, or 15 with --quick")
    options = parser.parse_args()
    seconds = options.seconds or (15.0 if options.quick else 120.0)
    with (
        tempfile.TemporaryDirectory(prefix="skitter-api-") as folder,
        Cluster(Path(folder), web(quick=options.quick)) as cluster,
    ):
        figures = asyncio.run(trial(cluster, clients=options.clients, seconds=seconds))
        asked = {"clients": options.clients, "seconds": seconds}
        print(json.dumps(asked | figures))


if __name__ == "__main__":
    main()
