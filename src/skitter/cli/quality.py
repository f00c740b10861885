"""`skitter quality check`: a job's items against the gates that a run has to pass."""

from __future__ import annotations

import json
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from skitter.cli.options import Sets
from skitter.cli.spider_classes import spider_classes
from skitter.cli.stored import From, reading
from skitter.errors import BadGates
from skitter.settings import load_settings, parse_sets
from skitter.sinks import Wanted

if TYPE_CHECKING:
    from skitter.cli.quality_history import Known
    from skitter.validate.gates import GateFailure, Gates, RunFigures

app = typer.Typer(help="Quality: what a run as a whole has to be like.", no_args_is_help=True)


@app.callback()
def root() -> None:
    """Keep `check` a command of its own, though it is the only one."""


@app.command()
def check(
    *,
    job: Annotated[str, typer.Option(help="The job whose items are looked at.")],
    gates: Annotated[
        str,
        typer.Option(
            metavar="FILE|JSON|usual",
            help="The gates, unless the job, its spider or recipe names them.",
        ),
    ] = "",
    arguments: Annotated[
        list[str] | None,
        typer.Option(
            "--arg", metavar="NAME=VALUE", help="Another argument of its spider: recipe=…"
        ),
    ] = None,
    past: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="What --json showed of a good run, in place of the store's; the latest last.",
        ),
    ] = None,
    place: From = None,
    sets: Sets = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Show which gates a job's items pass. The exit code is 1 if they do not pass all.

    It is held against the last good runs of the same spider and arguments, which the store has.

    Examples:
    skitter quality check --job shop

    skitter quality check --job shop --gates usual

    skitter quality check --job shop --gates gates.yaml --past monday.json --json > tuesday.json
    """
    from skitter.validate.gates import figures_of, judge  # noqa: PLC0415 - loads the validation

    found = reading(place, sets, Wanted(job=job))()
    first = list(islice(found, 1))
    spider = first[0].item.spider if first else ""
    known = _known(job, spider, dict(map(_pair, arguments or [])), sets)
    asked = _gates(spider, gates or known.gates, known.args)
    items = (stored.item.data for stored in chain(first, found))
    figures = figures_of(items, gates=asked, quarantined=_held(job, sets))
    before = [_past(path) for path in past] if past else known.past[-asked.past_runs :]
    failures = judge(asked, figures, before)
    if as_json:
        told = {"past_runs": len(before)} | _plain(job, asked, figures, failures)
        typer.echo(json.dumps(told, indent=2))
    else:
        _show(job, figures, failures, past=len(before))
    raise typer.Exit(1 if failures else 0)


def _known(job: str, spider: str, args: dict[str, str], sets: list[str] | None) -> Known:
    from skitter.cli.quality_history import known_of  # noqa: PLC0415 - the SQL toolkit

    url = load_settings(parse_sets(sets or [])).store.url
    return known_of(url, job, spider=spider, args=args)


def _gates(spider: str, told: dict[str, Any] | str, args: dict[str, str]) -> Gates:
    from skitter.validate.gates import Gates  # noqa: PLC0415 - as above

    kind = spider_classes().get(spider)
    if isinstance(told, str) and told.endswith((".yaml", ".yml")):
        asked = Gates.of(kind, {"gates": Gates.load(Path(told)), "args": args})
    else:
        asked = Gates.of(kind, {"gates": told, "args": args})
    if asked is None:
        raise BadGates(source=f"spider {spider!r}", problem="it has none; give --gates")
    return asked


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise typer.BadParameter(f"--arg {text}: it should read NAME=VALUE")
    return name, value


def _held(job: str, sets: list[str] | None) -> int:
    """How many items of a job are in quarantine."""
    from skitter.sinks.quarantine import Quarantine  # noqa: PLC0415 - as above
    from skitter.spiders.checking import quarantine_path  # noqa: PLC0415 - as above

    path = quarantine_path(load_settings(parse_sets(sets or [])).items.sink)
    return sum(1 for _ in Quarantine(path).entries(job=job)) if path.exists() else 0


def _past(path: Path) -> RunFigures:
    from skitter.validate.gates import RunFigures  # noqa: PLC0415 - as above

    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        return RunFigures.from_json(value.get("figures", value))
    except (OSError, ValueError, AttributeError) as error:
        raise typer.BadParameter(f"--past {path}: it holds no figures: {error}") from error


def _plain(
    job: str, gates: Gates, figures: RunFigures, failures: list[GateFailure]
) -> dict[str, Any]:
    return {
        "job": job,
        "passed": not failures,
        "gates": gates.model_dump(mode="json", exclude_defaults=True),
        "figures": figures.to_json(),
        "failures": [failure.to_json() for failure in failures],
    }


def _show(job: str, figures: RunFigures, failures: list[GateFailure], *, past: int) -> None:
    held = f", {figures.quarantined:,} in quarantine" if figures.quarantined else ""
    outcome = f"gates not passed: {len(failures)}" if failures else "all gates are passed"
    typer.echo(f"{job}: {figures.items:,} items{held}: {outcome}")
    typer.echo(f"held against {past} past runs", err=True)
    if failures:
        table = Table("gate", "reason")
        for failure in failures:
            table.add_row(escape(failure.gate), escape(failure.reason))
        Console().print(table)
