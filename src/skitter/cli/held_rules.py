"""The rules by which what is held is checked again: those of its spider, or else of its kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from skitter.cli.spider_classes import spider_classes

if TYPE_CHECKING:
    from pathlib import Path

    from skitter.sinks import Item
    from skitter.sinks.quarantine import Judge


def judge_of(schema: Path | None) -> Judge:
    """Judges an item by its spider's `validators`, if its class has some; and by a schema."""
    from skitter.spiders.checking import judge_by  # noqa: PLC0415 - loads Scrapy
    from skitter.validate import Quarantined, Validator, load_schema  # noqa: PLC0415 - as above

    more = Validator.of_schema(load_schema(schema), name=str(schema)) if schema else None
    usual = judge_by()

    def judge(item: Item) -> Mapping[str, Any] | str:
        own = getattr(spider_classes().get(item.spider), "validators", None)
        found = judge_by(own)(item) if isinstance(own, Mapping) else usual(item)
        if more is None or isinstance(found, str):
            return found
        verdict = more.check(found)
        return verdict.reason if isinstance(verdict, Quarantined) else verdict.data

    return judge
