"""Items are accepted with their types, or refused with the field, its raw value and reasons."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from skitter.errors import BadSchema
from skitter.validate import (
    MODELS,
    Accepted,
    Product,
    Quarantined,
    Quote,
    Validator,
    load_schema,
    schema_of,
)

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.unit

PRODUCT: dict[str, Any] = {
    "url": "https://shop.example/p/1",
    "name": "Perceuse",
    "price": Decimal("1299.000"),
    "currency": "TND",
    "stock": "in_stock",
    "rating": Decimal("4.5"),
    "images": ["https://shop.example/1.png"],
}
QUOTE: dict[str, Any] = {
    "url": "https://exchange.example/BBB",
    "ticker": "BBB",
    "price": Decimal("12.5"),
    "currency": "USD",
    "change": Decimal("-0.5"),
    "percent": Decimal("-3.85"),
    "volume": 1200,
    "market_cap": 10**12,
    "time": datetime(2026, 7, 1, 13, 45, tzinfo=UTC),
}
SCHEMA = {
    "type": "object",
    "required": ["name", "price"],
    "properties": {
        "price": {"type": "number", "exclusiveMinimum": 0},
        "sku": {"type": "string", "pattern": "^[A-Z]+-[0-9]+$"},
        "stock": {"enum": ["in_stock", "out_of_stock"]},
        "added": {"type": "string", "format": "date"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
}


def refusal(validator: Validator, data: dict[str, Any]) -> Quarantined:
    found = validator.check(data)
    assert isinstance(found, Quarantined), found
    return found


@pytest.mark.parametrize(("model", "data"), [(Product, PRODUCT), (Quote, QUOTE)])
def test_a_good_item_is_accepted_as_it_is(model: Any, data: dict[str, Any]) -> None:
    whole = data | {"colour": "red", "raw": {"price": "1 299,000 DT"}}
    assert Validator.of_model(model).check(whole) == Accepted(whole)


def test_a_model_gives_values_their_types() -> None:
    stored = PRODUCT | {"price": "1299.000", "rating": "4.5"}
    assert Validator.of_model(Product).check(stored) == Accepted(PRODUCT)


@pytest.mark.parametrize(
    ("change", "field", "reason"),
    [
        ({"name": ""}, "name", "at least 1 character"),
        ({"name": None}, "name", "valid string"),
        ({"url": "shop.example"}, "url", "pattern"),
        ({"price": Decimal(-1)}, "price", "greater than or equal to 0"),
        ({"price": "cheap"}, "price", "decimal"),
        ({"price": Decimal("NaN")}, "price", "finite"),
        ({"price": None}, "price", "needed"),
        ({"currency": "DT"}, "currency", "pattern"),
        ({"currency": None}, "currency", "a price needs one"),
        ({"stock": "maybe"}, "stock", "'in_stock'"),
        ({"stock_quantity": -2}, "stock_quantity", "greater than or equal to 0"),
        ({"rating": Decimal(45), "rating_best": Decimal(5)}, "rating", "more than the best"),
        ({"images": ["1.png"]}, "images", "pattern"),
        ({"low_price": Decimal(5), "high_price": Decimal(4)}, "low_price", "more than 4"),
    ],
)
def test_what_is_wrong_with_a_product_is_said(
    change: dict[str, Any], field: str, reason: str
) -> None:
    found = refusal(Validator.of_model(Product), PRODUCT | change)
    assert found.field == field
    assert reason in found.reason


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"ticker": "two words"}, "ticker"),
        ({"currency": ""}, "currency"),
        ({"percent": Decimal("3.85")}, "percent"),
        ({"volume": Decimal("1.5")}, "volume"),
        ({"market_cap": -1}, "market_cap"),
        ({"time": datetime(2026, 7, 1)}, "time"),  # noqa: DTZ001 - that is what is wrong
    ],
)
def test_what_is_wrong_with_a_quote_is_said(change: dict[str, Any], field: str) -> None:
    assert refusal(Validator.of_model(Quote), QUOTE | change).field == field


def test_a_sold_out_product_needs_no_price() -> None:
    data = {name: PRODUCT[name] for name in ("url", "name")} | {"stock": "out_of_stock"}
    assert Validator.of_model(Product).check(data) == Accepted(data)


def test_a_refusal_has_the_raw_value_and_what_extraction_said() -> None:
    data = {name: value for name, value in PRODUCT.items() if name != "price"} | {
        "raw": {"price": "3.350 €"},
        "problems": {"price": "3.350 could be 3350 or 3.350"},
    }
    found = refusal(Validator.of_model(Product), data)
    assert (found.field, found.raw) == ("price", "3.350 €")
    assert "could be 3350 or 3.350" in found.reason
    assert found.data == data


def test_every_reason_is_told() -> None:
    found = refusal(Validator.of_model(Product), {"price": Decimal(-1)})
    assert all(f"{name}:" in found.reason for name in ("url", "name", "price"))


def test_a_schema_checks_required_ranges_patterns_and_enums() -> None:
    validator = Validator.of_schema(SCHEMA)
    good = {"name": "a", "price": Decimal("0.5"), "sku": "A-1", "added": date(2026, 7, 1)}
    assert validator.check(good | {"tags": ("new",)}) == Accepted(good | {"tags": ("new",)})
    assert refusal(validator, {"price": 1}).field == "name"
    assert refusal(validator, good | {"price": Decimal(0)}).field == "price"
    assert refusal(validator, good | {"sku": "a1"}).field == "sku"
    assert refusal(validator, good | {"stock": "maybe"}).field == "stock"
    assert refusal(validator, good | {"tags": [1]}).field == "tags"


@pytest.mark.parametrize("kind", MODELS)
def test_our_own_schemas_are_schemas(kind: str) -> None:
    schema = schema_of(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert "url" in schema["required"]
    data = {"product": PRODUCT, "quote": QUOTE}[kind]
    assert isinstance(Validator.of_schema(schema).check(data), Accepted)
    assert isinstance(Validator.of_schema(schema).check({"url": 1}), Quarantined)


def test_a_schema_comes_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(SCHEMA))
    assert load_schema(path) == SCHEMA


@pytest.mark.parametrize("text", ["[]", "{", '{"type": 3}'])
def test_a_bad_schema_is_told(text: str, tmp_path: Path) -> None:
    path = tmp_path / "schema.json"
    path.write_text(text)
    with pytest.raises(BadSchema):
        Validator.of_schema(load_schema(path))
    with pytest.raises(BadSchema, match="nowhere"):
        load_schema(tmp_path / "nowhere.json")
