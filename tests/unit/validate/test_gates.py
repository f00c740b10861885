"""A run passes its gates, or is told which it does not pass and why."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
import scrapy

from skitter.errors import BadGates
from skitter.spiders.ecommerce import EcommerceSpider
from skitter.spiders.finance import FinanceSpider
from skitter.validate.gates import GateFailure, Gates, RunFigures, figures_of, judge

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.unit

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def gates(**wanted: Any) -> Gates:
    return Gates.checked(wanted, source="test")


def run(
    wanted: Gates, items: list[dict[str, Any]], past: list[RunFigures], quarantined: int = 0
) -> list[GateFailure]:
    figures = figures_of(items, gates=wanted, quarantined=quarantined, now=NOW)
    return judge(wanted, RunFigures.from_json(json.loads(json.dumps(figures.to_json()))), past)


def past_run(**figures: Any) -> RunFigures:
    return RunFigures(**({"items": 100, "taken_at": NOW} | figures))


def names(failures: list[GateFailure]) -> list[str]:
    return [failure.gate for failure in failures]


def test_a_run_without_items_fails_by_that_alone() -> None:
    wanted = gates(coverage={"price": 1}, drift={"price": 0.1}, max_age_h={"time": 1})
    (failure,) = run(wanted, [], [past_run(medians={"price": 5})])
    assert failure.gate == "least_items"
    assert failure.reason == "there are 0 items, and 1 are the least"
    assert run(gates(least_items=0), [], []) == []


def test_too_few() -> None:
    items = [{"n": n} for n in range(9)]
    assert run(gates(least_items=9), items, []) == []
    assert names(run(gates(least_items=10), items, [])) == ["least_items"]


def test_fewer_than_in_past_runs() -> None:
    items = [{"n": n} for n in range(50)]
    past = [past_run(items=count) for count in (1, 90, 100, 110)]
    assert run(gates(most_drop=0.5), items, []) == []
    assert run(gates(most_drop=0.5, past_runs=3), items, past) == []
    (failure,) = run(gates(most_drop=0.4, past_runs=3), items, past)
    assert (failure.measured, failure.bound) == (0.5, 0.4)
    assert failure.reason == "there are 50 items, 50.0% fewer than the usual 100; 40.0% is the most"


def test_coverage_counts_values_that_say_something() -> None:
    values: list[Any] = [1, 0, False, "x", None, "", "  ", [], {}, "absent"]
    items = [{"f": value} for value in values[:-1]] + [{}]
    assert run(gates(coverage={"f": 0.4}), items, []) == []
    (failure,) = run(gates(coverage={"f": 0.5}), items, [])
    assert failure.gate == "coverage.f"
    assert failure.reason == "4 of 10 items have f (40.0%; 50.0% is the least)"


def test_fields_may_be_nested() -> None:
    items: list[dict[str, Any]] = [
        {"offers": [{"price": "9.50"}]},
        {"offers": []},
        {"offers": None},
        {"offers.0.price": 1},
    ]
    figures = figures_of(items, gates=gates(coverage={"offers.0.price": 1}))
    assert figures.filled == {"offers.0.price": 2}


def test_duplicates_go_by_their_fields() -> None:
    items: list[dict[str, Any]] = [
        {"sku": "1", "p": 1},
        {"sku": 1, "p": 2},
        {"sku": "2"},
        {"p": 3},
        {"p": 4},
    ]
    (failure,) = run(gates(duplicates={"by": "sku", "most": 0.3}), items, [])
    assert failure.measured == pytest.approx(1 / 3)
    assert "repeat an earlier one by sku" in failure.reason
    assert run(gates(duplicates={"by": ["sku", "p"]}), items, []) == []


def test_a_median_is_held_against_past_runs() -> None:
    items = [{"price": price} for price in ("9", Decimal(10), 11.0, "much", None, True, "nan")]
    past = [past_run(medians={"price": price}) for price in (1000, 7, 8, 9)]
    assert run(gates(drift={"price": 0.1}), items, []) == []
    assert run(gates(drift={"price": 0.25}, past_runs=3), items, past) == []
    (failure,) = run(gates(drift={"price": 0.2}, past_runs=3), items, past)
    assert failure.measured == pytest.approx(0.25)
    assert failure.reason == "the median of price is 10, 25.0% off the usual 8; 20.0% is the most"


def test_a_median_that_is_gone_or_was_nothing() -> None:
    past = [past_run(medians={"price": 0})]
    (gone,) = run(gates(drift={"price": 0.2}), [{"price": "sur devis"}], past)
    assert (gone.measured, gone.reason) == (
        None,
        "no item has a number in price, and past runs had",
    )
    (grown,) = run(gates(drift={"price": 0.2}), [{"price": 1}], past)
    assert grown.measured is None
    assert run(gates(drift={"price": 0.2}), [{"price": 0}], past) == []


@pytest.mark.parametrize(
    ("times", "age"),
    [
        (["2026-11-16T10:00:00Z", "2026-11-15T00:00:00Z"], 2.0),
        (["2026-11-16T10:00:00+02:00"], 4.0),
        (["2026-11-16T10:00:00"], 2.0),
        ([NOW - timedelta(hours=3)], 3.0),
        (["2026-11-15", "soon", 7, None], 12.0),
        (["2099-01-01T00:00:00Z", "2026-11-16T11:00:00Z"], 1.0),
    ],
)
def test_the_newest_time(times: list[Any], age: float) -> None:
    items = [{"time": value} for value in times]
    assert run(gates(max_age_h={"time": age + 0.01}), items, []) == []
    (failure,) = run(gates(max_age_h={"time": age - 0.01}), items, [])
    assert failure.measured == pytest.approx(age, abs=0.001)


def test_no_time_at_all_is_stale() -> None:
    (failure,) = run(gates(max_age_h={"time": 1}), [{"time": "2099-01-01T00:00:00Z"}], [])
    assert failure.reason == "no item has a time in time"


def test_too_many_in_quarantine() -> None:
    items: list[dict[str, Any]] = [{}] * 19
    assert run(gates(most_quarantined=0.05), items, [], quarantined=1) == []
    (failure,) = run(gates(most_quarantined=0.04), items, [], quarantined=1)
    assert failure.reason == "1 of 20 are in quarantine (5.0%; 4.0% is the most)"


class Plain(scrapy.Spider):
    name = "plain"


class Gated(scrapy.Spider):
    name = "gated"
    custom_settings = {"SKITTER_GATES": {"least_items": 5, "past_runs": 2}}  # noqa: RUF012 - Scrapy's
    gates = {"least_items": 10}  # noqa: RUF012 - as people write it


def test_nobody_asks_for_gates() -> None:
    assert Gates.of(None, {}) is None
    assert Gates.of(Plain, {"args": {"a": "b"}}) is None
    assert Gates.of(EcommerceSpider, {"args": {}}) is None


def test_a_spider_asks_and_a_job_asks_otherwise() -> None:
    assert Gates.of(Gated, {}) == gates(least_items=10, past_runs=2)
    asked = {"gates": '{"least_items": 1, "coverage": {"a": 1}}'}
    assert Gates.of(Gated, asked) == gates(least_items=1, coverage={"a": 1}, past_runs=2)
    assert Gates.of(Gated, {"gates": "none"}) is None
    assert Gates.of(Gated, {"gates": False}) is None
    assert Gates.of(None, {"gates": gates(least_items=3)}) == gates(least_items=3)


@pytest.mark.parametrize("spider", [EcommerceSpider, FinanceSpider])
def test_what_is_usual_has_to_be_asked_for(spider: type[Any]) -> None:
    found = Gates.of(spider, {"gates": "usual"})
    assert found == Gates.checked(spider.usual_gates, source="usual")
    assert found is not None
    assert found.coverage["price"] > 0


def test_a_recipe_asks(tmp_path: Path) -> None:
    text = "name: shop\ngates: {least_items: 7}\npages: {page: {fields: {name: h1}}}\n"
    path = tmp_path / "shop.yaml"
    path.write_text(text)
    args = {"args": {"recipe": str(path)}}
    assert Gates.of(EcommerceSpider, args) == gates(least_items=7) == Gates.load(path)
    usual = Gates.of(EcommerceSpider, args | {"gates": "usual"})
    assert usual is not None
    assert (usual.least_items, usual.most_drop) == (7, 0.5)
    path.write_text(text.replace("least_items", "fewest"))
    with pytest.raises(BadGates, match="fewest: there is no such gate; there are least_items, "):
        EcommerceSpider(recipe=str(path))


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"coverage": {"a": 2}}, "coverage.a: it should be less than or equal to 1"),
        ({"least": 1}, "least: there is no such gate"),
        ("often", "'often' is neither 'usual' nor 'none' nor JSON"),
        ("usual", "its spider has no usual gates"),
        ([1], "is no mapping"),
        ({"duplicates": {"by": []}}, "duplicates.by: "),
    ],
)
def test_mistakes_are_told(value: Any, told: str) -> None:
    with pytest.raises(BadGates, match=told):
        Gates.of(Plain, {"gates": value})


def test_a_file_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(BadGates, match="No such file"):
        Gates.load(tmp_path / "none.yaml")
    (tmp_path / "a.yaml").write_text("{")
    with pytest.raises(BadGates, match=r"a\.yaml"):
        Gates.load(tmp_path / "a.yaml")
