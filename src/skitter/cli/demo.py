"""`skitter demo`: a small web, a few worker processes, one frontier, and the referee's verdict.

Everything is private to the run and gone after it: the lab in a process of its own, the embedded
server in a temporary folder, the workers as children that end with their parent.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import signal
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table

from skitter.cli.fetch_loop import crawl
from skitter.frontier import Caretaker, Frontier, Job, Request
from skitter.frontier.opening import open_frontier, retry_policy_of
from skitter.lab import LabProcess, WebSpec
from skitter.lab.run import run_fast
from skitter.logs import setup_logs
from skitter.settings import (
    EmbeddedSettings,
    FetchSettings,
    LogSettings,
    PolitenessSettings,
    RedisSettings,
    Settings,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skitter.frontier.hosts import HostState
    from skitter.frontier.stats import JobStats
    from skitter.lab.verdict import Verdict

JOB = "demo"
SPIDER = "demo"


@dataclass(frozen=True)
class Plan:
    """What the demo is to do."""

    hosts: int
    pages: int
    processes: int
    delay_s: float

    def web(self) -> WebSpec:
        """Every third host takes several requests at once; the others ask for a pause."""
        delay_ms = self.delay_s * 1000
        return WebSpec(
            hosts=self.hosts,
            pages=self.pages,
            links=12,
            zipf=0.5,
            latency_ms=(5.0, 60.0),
            delays_ms=(delay_ms, 1.5 * delay_ms, 0.0),
            concurrency=(4,),
            private_links=0.1,
            page_bytes=4000,
        )


@dataclass(frozen=True)
class Outcome:
    """What came of it."""

    seconds: float
    stats: JobStats
    hosts: list[HostState]
    verdict: Verdict


def demo(
    *,
    hosts: Annotated[int, typer.Option(min=1, max=2000, help="How many hosts the web has.")] = 60,
    pages: Annotated[int, typer.Option(min=1, max=1000, help="Pages on each of them.")] = 20,
    processes: Annotated[int, typer.Option(min=1, max=32, help="Worker processes.")] = 4,
    delay_s: Annotated[float, typer.Option(min=0.0, help="The pause that hosts ask for.")] = 0.2,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Crawl a small web on this machine, politely, in several processes; ask its referee.

    Example: skitter demo --hosts 200 --pages 10 --processes 8
    """
    setup_logs(LogSettings(level="warning"))
    plan = Plan(hosts=hosts, pages=pages, processes=processes, delay_s=delay_s)
    console = Console(stderr=as_json)
    try:
        outcome = run_fast(_run(plan, console))
    except KeyboardInterrupt:
        console.print("Stopped; nothing is left behind.")
        raise typer.Exit(130) from None
    if as_json:
        typer.echo(json.dumps(_values(outcome), indent=2))
    else:
        _show(outcome, console)
    if not outcome.verdict.polite:
        raise typer.Exit(1)


async def _run(plan: Plan, console: Console) -> Outcome:
    with (
        tempfile.TemporaryDirectory(prefix="skitter-demo-") as folder,
        LabProcess(plan.web()) as lab,
    ):
        settings = _settings(Path(folder), rule=lab.rule)
        async with open_frontier(settings, worker="demo") as frontier:
            job = Job(id=JOB, spider=SPIDER)
            await frontier.jobs.submit(job)
            await frontier.add([Request(JOB, lab.url(n)) for n in range(3)])
            await frontier.jobs.release_hold(JOB)
            console.print(
                f"A web of {plan.hosts} hosts with {plan.pages} pages each, and "
                f"{plan.processes} processes that crawl it from three of them."
            )
            started = time.monotonic()
            with _workers(plan.processes, settings, job.lane):
                await _watch(frontier, console, started)
            return Outcome(
                seconds=time.monotonic() - started,
                stats=await frontier.stats.job(JOB),
                hosts=await frontier.hosts.ranking("fetched", limit=5),
                verdict=await asyncio.to_thread(lab.verdict),
            )


def _settings(folder: Path, *, rule: str) -> Settings:
    # A delay of 0: each host's robots.txt says what it wants, and that is what counts here.
    return Settings(
        redis=RedisSettings(url=None),
        embedded=EmbeddedSettings(dir=folder),
        politeness=PolitenessSettings(delay_s=0, concurrency=4),
        fetch=FetchSettings(resolve=(rule,)),
    )


async def _watch(frontier: Frontier, console: Console, started: float) -> None:
    """Tend the frontier and show how far it is, until the job has ended."""
    caretaker = asyncio.create_task(Caretaker(frontier).run())
    try:
        with Live(console=console, refresh_per_second=4, transient=True) as live:
            while (await frontier.jobs.record(JOB)).state != "ended":
                stats = await frontier.stats.job(JOB)
                live.update(_progress(stats, time.monotonic() - started))
                await asyncio.sleep(0.2)
                if caretaker.done():
                    await caretaker
    finally:
        caretaker.cancel()
        with suppress(asyncio.CancelledError):
            await caretaker


@contextmanager
def _workers(count: int, settings: Settings, lane: str) -> Iterator[None]:
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    children = [
        context.Process(target=_work, args=(settings, f"worker-{n}", lane, stop), daemon=True)
        for n in range(1, count + 1)
    ]
    for child in children:
        child.start()
    try:
        yield
    finally:
        stop.set()
        for child in children:
            child.join(10)
            if child.is_alive():
                child.kill()


def _work(settings: Settings, name: str, lane: str, stop: Any) -> None:
    """A worker process: Ctrl-C is its parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    setup_logs(LogSettings(level="warning"), worker=name)
    run_fast(_crawl(settings, name, lane, stop))


async def _crawl(settings: Settings, name: str, lane: str, stop: Any) -> None:
    async with open_frontier(settings, worker=name) as frontier:
        await crawl(
            frontier,
            lanes=[lane],
            fetch=settings.fetch,
            retry=retry_policy_of(settings.retry),
            stop=stop.is_set,
        )


def _progress(stats: JobStats, seconds: float) -> Table:
    table = Table.grid(padding=(0, 2))
    rate = stats.pages / seconds if seconds else 0.0
    table.add_row(
        f"[bold]{stats.pages}[/] pages",
        f"{rate:.0f}/s",
        f"{stats.queued} queued",
        f"{stats.leased} in hand",
        f"{stats.delayed} to be tried again",
        f"{seconds:.0f} s",
    )
    return table


def _show(outcome: Outcome, console: Console) -> None:
    stats = outcome.stats
    console.print(
        f"\n[bold]{stats.pages} pages[/] in {outcome.seconds:.1f} s: {stats.accepted} requests "
        f"accepted, {stats.done} done, {stats.buried} given up, {stats.pending} left."
    )
    table = Table(
        "host", "fetched", "failed", "crawl delay", title="The busiest hosts", title_justify="left"
    )
    for host in outcome.hosts:
        table.add_row(host.host, str(host.fetched), str(host.failed), f"{host.crawl_delay_ms} ms")
    console.print(table)
    console.print(outcome.verdict.table())


def _values(outcome: Outcome) -> dict[str, Any]:
    return {
        "seconds": round(outcome.seconds, 1),
        "stats": asdict(outcome.stats),
        "hosts": [asdict(host) for host in outcome.hosts],
        "verdict": outcome.verdict.to_json(),
    }
