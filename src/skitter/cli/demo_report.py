"""What the demo shows: some items, how prices changed, the verdict, the files, what comes next."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from rich.table import Table
from rich.text import Text

from skitter.cli.progress import clock
from skitter.sinks import Wanted, read_history, read_stored

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rich.console import Console

    from skitter.cli.demo_run import Outcome
    from skitter.sinks import Stored

SINK = "sqlite:.skitter/items.db"
SHOWN_ITEMS, SHOWN_CHANGES = 3, 6
KINDS = ("Product", "Quote")


def report(outcome: Outcome, console: Console, *, folder: Path, counts: dict[str, int]) -> None:
    """For people."""
    total = outcome.total
    console.print(
        f"\n[bold]{total.pages:,} pages, {sum(counts.values()):,} items[/] in "
        f"{clock(outcome.seconds)}: {total.settled:,} of {total.accepted:,} requests done, "
        f"{total.buried:,} given up.",
        highlight=False,
    )
    for line in found_lines(outcome):
        console.print(line, highlight=False)
    console.print(_items(), _prices(), outcome.verdicts[-1].table())
    files = ", ".join(f"{name} ({count:,})" for name, count in counts.items())
    for text in (
        f"Files:  {folder}: {files}; .skitter/items.db",
        "Next:",
        f"  cd {folder} && skitter items --kind Quote --fields ticker,price,currency",
        "  skitter history --since 1h",
        "  skitter crawl tunisian-shop http://shop-tn.lab/ --lab -o tn.jsonl",
    ):
        console.print(text, markup=False, highlight=False, soft_wrap=True)


def values(outcome: Outcome, *, folder: Path, counts: dict[str, int]) -> dict[str, Any]:
    """For machines."""
    total = outcome.total
    return {
        "seconds": round(outcome.seconds, 1),
        "folder": str(folder),
        "jobs": outcome.jobs,
        "accepted": total.accepted,
        "settled": total.settled,
        "buried": total.buried,
        "pages": total.pages,
        "files": counts,
        "price_changes": len(list(price_changes())),
        "found": {kind: len(_keys(kind) & truth) for kind, truth in outcome.truth.items()},
        "polite": outcome.polite,
        "verdicts": [verdict.to_json() for verdict in outcome.verdicts],
    }


def found_lines(outcome: Outcome) -> list[str]:
    """What was found, held against what the sites themselves know to be there."""
    names = {"Product": "products", "Quote": "quotes"}
    return [
        f"{len(_keys(kind) & truth):,} of the {len(truth):,} {names[kind]} in the sites' own books."
        for kind, truth in outcome.truth.items()
    ]


def _keys(kind: str) -> set[str]:
    """What was found, as the truth names it."""
    if kind == "Quote":
        return {str(found.item.data.get("ticker")) for found in _stored(kind)}
    return {
        f"{urlsplit(found.item.url).hostname} {found.item.data.get('sku')}"
        for found in _stored(kind)
    }


def price_changes() -> Iterator[tuple[str, str, str]]:
    """Name, price before and price after, of all that changed its price."""
    names = {found.item.id: found.item.data for kind in KINDS for found in _stored(kind)}
    for change in read_history(SINK):
        before, after = change.before.get("price"), change.after.get("price")
        data = names.get(change.item)
        if data and before is not None and before != after:
            name = str(data.get("name") or data.get("ticker"))
            currency = str(data.get("currency", ""))
            yield name, f"{before} {currency}", f"{after} {currency}"


def _stored(kind: str) -> Iterator[Stored]:
    return read_stored(SINK, Wanted(kind=kind))


def _items() -> Table:
    table = Table("item", title="Some items", title_justify="left")
    table.add_column("price", justify="right", no_wrap=True)
    table.add_column("stock", no_wrap=True)
    table.add_column("site", no_wrap=True)
    for site in ("shop-us.lab", "shop-tn.lab", "exchange.lab"):
        kind = "Quote" if site == "exchange.lab" else "Product"
        found = (each.item.data for each in _stored(kind) if f"//{site}/" in each.item.url)
        for data in islice(found, SHOWN_ITEMS):
            name = str(data.get("name") or data.get("ticker"))
            price = f"{data.get('price')} {data.get('currency', '')}"
            table.add_row(Text(name[:28]), price, str(data.get("stock", "")), site)
    return table


def _prices() -> Table:
    table = Table("price of", title="What changed from the first round to the second",
                  title_justify="left")  # fmt: skip
    for name in ("first", "second"):
        table.add_column(name, justify="right", no_wrap=True)
    changes = list(price_changes())
    for name, before, after in changes[:SHOWN_CHANGES]:
        table.add_row(Text(name[:40]), before, after)
    if len(changes) > SHOWN_CHANGES:
        table.add_row(f"… and {len(changes) - SHOWN_CHANGES:,} more: skitter history")
    return table
