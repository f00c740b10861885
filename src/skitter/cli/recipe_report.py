"""What `skitter recipe check` shows: a table for people, the same as JSON for machines."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from skitter.errors import PageError
from skitter.extract.fields import Extracted, Field
from skitter.extract.recipe import Extraction
from skitter.extract.structured import main_product, main_quote

if TYPE_CHECKING:
    from rich.console import Console

    from skitter.extract.document import Document
    from skitter.extract.recipe import Recipe

SHOWN_CHARS = 80
SHOWN_ITEMS = 5
SHOWN_LINKS = 5


def values(recipe: Recipe | None, document: Document, *, rule: str = "") -> dict[str, Any]:
    """Everything that was found, in plain values."""
    if recipe and rule and rule not in recipe.file.pages:
        known = ", ".join(recipe.file.pages)
        raise PageError(url=document.url, reason=f"the recipe has no page {rule}, but {known}")
    found = recipe.extract(document, rule=rule, now=datetime.now(UTC)) if recipe else None
    extraction = found or _without_recipe(document)
    rules = recipe.file.pages[extraction.page].fields if recipe and extraction.page else {}
    items = [_plain(item, wanted=list(rules)) for item in extraction.items]
    missing = any(item.missing for item in extraction.items)
    has_values = any(item.data for item in extraction.items)
    return {
        "url": document.url,
        "recipe": recipe.name if recipe else "",
        "version": recipe.version if recipe else "",
        "page": extraction.page,
        "items": items,
        "links": [
            {"url": link.url, "kind": link.kind, "page": link.page} for link in extraction.links
        ],
        "scripts": [name for name, _ in document.values] if recipe is None else [],
        "problems": extraction.problems,
        "ok": (has_values or bool(extraction.links)) and not missing,
    }


def _without_recipe(document: Document) -> Extraction:
    """The product and the quote that a page tells of by itself."""
    found = {"product": main_product(document.structured), "quote": main_quote(document.structured)}
    items = [Extracted(kind, fields) for kind, fields in found.items() if fields]
    return Extraction(items=items, problems=list(document.structured.problems))


def _plain(item: Extracted, *, wanted: list[str]) -> dict[str, Any]:
    """An item with every field that the recipe asks for, found or not."""
    nothing = {name: Field(None, reason="nothing was found") for name in wanted}
    fields = {
        name: {
            "value": _value(one.value),
            "raw": one.raw,
            "from": one.origin,
            "reason": one.reason,
        }
        for name, one in (nothing | item.fields).items()
    }
    return {"kind": item.kind, "fields": fields, "missing": item.missing}


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return [_value(one) for one in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def report(outcome: dict[str, Any], console: Console) -> None:
    """The same for people."""
    by = f"recipe {outcome['recipe']}, page {outcome['page'] or '?'}"
    title = f"{outcome['url']}: {by if outcome['recipe'] else 'no recipe, structured data only'}"
    console.print(title, markup=False, highlight=False, soft_wrap=True)
    for number, item in enumerate(outcome["items"][:SHOWN_ITEMS], start=1):
        console.print(_table(item, number))
    more = len(outcome["items"]) - SHOWN_ITEMS
    if more > 0:
        console.print(f"and {more} more items", highlight=False)
    if not outcome["items"]:
        console.print("No item was found.", highlight=False)
    _show_links(outcome["links"], console)
    for text in [*(f"script: {name}" for name in outcome["scripts"]), *outcome["problems"]]:
        console.print(text, markup=False, highlight=False, soft_wrap=True)


def _table(item: dict[str, Any], number: int) -> Table:
    table = Table("field", "value", "raw", "from", title=f"{item['kind']} {number}")
    table.title_justify = "left"
    for name, one in item["fields"].items():
        reason = f"required: {one['reason']}" if name in item["missing"] else one["reason"]
        style = "red" if one["raw"] or name in item["missing"] else "dim"
        value = f"[{style}]{escape(reason)}[/]" if one["value"] is None else _cell(one["value"])
        table.add_row(escape(name), value, _cell(one["raw"]), escape(one["from"]))
    return table


def _cell(value: Any) -> str:
    text = " ".join(str(value).split())
    return escape(text if len(text) <= SHOWN_CHARS else f"{text[: SHOWN_CHARS - 1]}…")


def _show_links(links: list[dict[str, Any]], console: Console) -> None:
    kinds: dict[tuple[str, str], list[str]] = {}
    for link in links:
        kinds.setdefault((link["kind"], link["page"]), []).append(link["url"])
    for (kind, page), urls in kinds.items():
        to = f" to {page}" if page else ""
        console.print(f"{kind}{to}: {len(urls)} links", markup=False, highlight=False)
        for url in urls[:SHOWN_LINKS]:
            console.print(f"  {url}", markup=False, highlight=False, soft_wrap=True)
