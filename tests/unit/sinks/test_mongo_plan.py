"""What is written to MongoDB for an item that is there: changes that failed half way are mended."""

from __future__ import annotations

from typing import Any

import pytest

from skitter.sinks import Item, Shape
from skitter.sinks.mongo_documents import Plan
from skitter.sinks.rows import Row, row_of

pytestmark = pytest.mark.unit

PRICED = Shape("Book", {}, ("price",))


def row(price: int, job: str = "monday") -> Row:
    item = Item("a", job, "books", "https://books.example/", "Book", {"price": price})
    item.shape = PRICED
    return row_of(item)


def written(updates: list[Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return [(update._filter, update._doc["$set"]) for update in updates]


def document(price: int, **more: Any) -> dict[str, Any]:
    ((_, found),) = written(Plan.of([row(price)], {}).upserts)
    return {"_id": "a", **found, **more}


def test_an_upsert_names_the_revision_that_it_saw() -> None:
    ((new, first),) = written(Plan.of([row(1)], {}).upserts)
    assert (new, first["rev"]) == ({"_id": "a", "rev": 0}, 1)
    ((again, second),) = written(Plan.of([row(1)], {"a": document(1)}).upserts)
    assert (again, second["rev"]) == ({"_id": "a", "rev": 1}, 2)
    ((old, third),) = written(Plan.of([row(1)], {"a": {"_id": "a"}}).upserts)
    assert (old, third["rev"]) == ({"_id": "a", "rev": None}, 1)


def test_a_change_is_in_the_document_and_in_the_history() -> None:
    plan = Plan.of([row(2, "tuesday")], {"a": document(1)})
    ((_, item),) = written(plan.upserts)
    ((where, change),) = written(plan.after)
    assert where == {"_id": "a:1"}
    assert item["change"] == where | change
    assert (change["before"], change["after"], change["job"]) == (
        {"price": 1},
        {"price": 2},
        "tuesday",
    )
    assert plan.before == []


def test_a_change_that_was_not_noted_is_noted_when_its_page_comes_again() -> None:
    ((_, item),) = written(Plan.of([row(2, "tuesday")], {"a": document(1)}).upserts)
    there = {"a": {"_id": "a", **item}}
    replay = Plan.of([row(2, "tuesday")], there)
    assert written(replay.before)[0][0] == {"_id": "a:1"}
    assert replay.after == []
    assert "change" not in written(replay.upserts)[0][1]
    assert Plan.of([row(2, "wednesday")], there).before == []
    later = Plan.of([row(3, "wednesday")], there)
    assert [written(part)[0][0] for part in (later.before, later.after)] == [
        {"_id": "a:1"},
        {"_id": "a:2"},
    ]
