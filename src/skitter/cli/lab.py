"""`skitter lab serve`: a virtual web on a port, and the referee's verdict when it ends."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from rich.console import Console

from skitter.errors import SkitterError
from skitter.lab import Judging, LabServer, Verdict, WebSpec, spec_from
from skitter.lab.refusal import LabSpecError
from skitter.lab.run import run_fast
from skitter.lab.spec import read_spec_values

app = typer.Typer(help="A virtual web with a referee.", no_args_is_help=True)


@app.callback()
def lab() -> None:
    """A virtual web with a referee."""


@app.command()
def serve(  # noqa: PLR0917 - Typer makes each an option
    hosts: Annotated[int | None, typer.Option(help="How many hosts.")] = None,
    pages: Annotated[int | None, typer.Option(help="Pages per host.")] = None,
    links: Annotated[int | None, typer.Option(help="Links per page.")] = None,
    delay: Annotated[
        list[float] | None,
        typer.Option(help="Seconds between requests to a host; given more than once, in turn."),
    ] = None,
    concurrency: Annotated[
        list[int] | None,
        typer.Option(help="Requests at a time on hosts without a delay; the same."),
    ] = None,
    page_bytes: Annotated[int | None, typer.Option(help="Size of a page.")] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option(help="KIND=RATE[:ATTEMPTS], such as 404=0.05, 503=0.1:2 or reset=0.01."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Another seed is another web.")] = None,
    spec: Annotated[Path | None, typer.Option(help="A YAML file that describes the web.")] = None,
    shop: Annotated[
        bool, typer.Option("--shop", help="Serve the demo shops too, one for each locale.")
    ] = False,
    exchange: Annotated[
        bool, typer.Option("--exchange", help="Serve the demo exchange too.")
    ] = False,
    assign: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any other field of the description: NAME=VALUE."),
    ] = None,
    address: Annotated[str, typer.Option(help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 is any free one.")] = 8080,
    prerender: Annotated[int, typer.Option(help="Pages to render beforehand.")] = 0,
    per_client: Annotated[
        bool, typer.Option("--per-client", help="Judge each client address by itself.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, not tables.")] = False,
) -> None:
    """Serve a web until Ctrl-C, then print what the referee saw.

    What is given here wins over what is in the YAML file.
    """
    flags = {
        "hosts": hosts,
        "pages": pages,
        "links": links,
        "page_bytes": page_bytes,
        "seed": seed,
        "concurrency": concurrency or None,
        "delays_ms": [1000 * seconds for seconds in delay] if delay else None,
        "faults": [_fault(text) for text in fault] if fault else None,
    }
    try:
        lab = LabServer(
            _spec(spec, assign or [], flags, demos={"shop": shop, "exchange": exchange}),
            host=address,
            port=port,
            prerender=prerender,
            judging=Judging(per_client_address=per_client),
        )
        verdict = run_fast(_serve(lab, as_json=as_json))
    except SkitterError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    _print_verdict(verdict, as_json=as_json)


def _spec(
    path: Path | None, assignments: list[str], flags: dict[str, Any], *, demos: dict[str, bool]
) -> WebSpec:
    values = read_spec_values(path) if path else {}
    for text in assignments:
        name, equals, value = text.partition("=")
        if not equals:
            raise LabSpecError(problem=f"--set {text} is not NAME=VALUE")
        values[name.strip()] = yaml.safe_load(value)
    values.update({name: value for name, value in flags.items() if value is not None})
    for name, asked in demos.items():
        if asked and values.get(name) is None:
            values[name] = {}
    return spec_from(values)


def _fault(text: str) -> dict[str, Any]:
    kind, _, rest = text.partition("=")
    rate, _, attempts = rest.partition(":")
    try:
        values: dict[str, Any] = {"kind": kind, "rate": float(rate)}
        if attempts:
            values["attempts"] = int(attempts)
    except ValueError:
        raise typer.BadParameter(f"{text} is not KIND=RATE[:ATTEMPTS]") from None
    return values


async def _serve(lab: LabServer, *, as_json: bool) -> Verdict:
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with lab:
        _print_address(lab, as_json=as_json)
        await ended.wait()
        return await lab.verdict()


def _print_address(lab: LabServer, *, as_json: bool) -> None:
    spec = lab.web.spec
    if as_json:
        facts = {"address": lab.host, "port": lab.port, "rule": lab.rule, "first": lab.url(0)}
        demos = [lab.url(host) for host in lab.web.demos.hosts()]
        typer.echo(json.dumps(facts | {"demos": demos}))
        return
    name = lab.web.host(0)
    typer.echo(
        f"{spec.hosts} hosts of {spec.pages} pages on {lab.proxy}, seed {spec.seed}.\n"
        f"As a proxy:   curl -x {lab.proxy} {lab.url(0)}\n"
        f"By its name:  curl --connect-to ::{lab.host}:{lab.port} {lab.url(0)}\n"
        f"              curl --resolve {name}:{lab.port}:{lab.host} http://{name}:{lab.port}/\n"
        f"For Skitter:  {lab.rule}\n"
        f"The referee:  curl {lab.proxy}/__referee__/table\n"
        f"{_demo_lines(lab)}"
        "Ctrl-C ends it."
    )


def _demo_lines(lab: LabServer) -> str:
    hosts = lab.web.demos.hosts()
    if not hosts:
        return ""
    urls = "\n              ".join(map(lab.url, hosts))
    kinds = ["shop"] * bool(lab.web.demos.shops) + ["exchange"] * bool(lab.web.demos.exchange)
    truths = "".join(f"Their truth:  curl {lab.proxy}/__referee__/truth/{kind}\n" for kind in kinds)
    changing = f"Next version: curl -X POST '{lab.proxy}/__referee__/version?to={lab.version + 1}'"
    return f"Demo sites:   {urls}\n{truths}{changing}\n"


def _print_verdict(verdict: Verdict, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(verdict.to_json()))
    else:
        Console().print(verdict.table())
