"""Typed columns: a view for each kind of item, with a column for each field of its class.

Items of all kinds are kept in one table, their fields in JSON; a view reads them as columns with
types: `SELECT name, price FROM products`. So a new field is a new column of a view, for old items
too, and costs nothing when items are stored. Which columns there are is in the table
`item_columns`, and only grows: a field that is declared with another type than before becomes JSON,
which holds both. Nothing that goes wrong here holds up a crawl.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skitter.sinks.item import Item
    from skitter.sinks.shape import Shape

log = structlog.get_logger(__name__)

MOST_COLUMNS = 1_000
JSON = "json"
ORIGINS = (
    *("id", "job", "spider", "kind", "url", "worker", "fetched_at", "parser"),
    *("first_seen", "last_seen", "first_job", "changed_at", "attrs"),
)
"""What stands beside the fields, with a leading underscore, as in exports."""
REST = "_rest"
"""The fields without a column of their own."""


class Declared:
    """The shapes of the items that pass, each of them once."""

    def __init__(self) -> None:
        self._met: set[Shape] = set()
        self._new: list[Shape] = []

    def notice(self, items: Sequence[Item]) -> None:
        """Look at items on their way."""
        for item in items:
            shape = item.shape
            if shape is not None and shape not in self._met:
                self._met.add(shape)
                if shape.columns:
                    self._new.append(shape)

    def take(self) -> list[Shape]:
        """Those that came up since the last call."""
        if not self._new:
            return []
        new, self._new = self._new, []
        return new

    def give_back(self, shapes: Sequence[Shape]) -> None:
        """To be taken again: nothing came of them."""
        self._new += shapes


def view_name(kind: str) -> str:
    """`Product` is in `products`, `JobOffer` in `job_offers`, `Category` in `categories`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", kind)
    name = re.sub(r"\W", "_", words).lower()
    if re.search(r"(s|x|z|ch|sh)$", name):
        return f"{name}es"
    return f"{name[:-1]}ies" if re.search(r"[^aeiou]y$", name) else f"{name}s"


def merged(known: Mapping[str, str], shape: Shape) -> dict[str, str]:
    """The columns of a view with those that a class declares now."""
    columns = dict(known)
    lowered = {name.lower(): name for name in known}
    for name, kind in shape.columns.items():
        there = lowered.get(name.lower(), name)
        if columns.setdefault(there, kind) not in (kind, JSON):
            columns[there] = JSON
    return dict(list(columns.items())[:MOST_COLUMNS])


def tell_changes(shape: Shape, known: Mapping[str, str], columns: Mapping[str, str]) -> None:
    """Say which columns are JSON from now on."""
    for name, was in known.items():
        if columns[name] != was:
            told = {"kind": shape.kind, "field": name, "was": was}
            log.warning("a column becomes JSON, for it is declared with another type", **told)


def tell_failure(shape: Shape, error: Exception | str) -> None:
    """A view that could not be made is told of once; its items are stored all the same."""
    log.warning("no columns for a kind of item", kind=shape.kind, reason=str(error).strip())
