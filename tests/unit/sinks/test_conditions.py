"""Conditions on fields: what can be written, and for what they hold."""

from __future__ import annotations

from typing import Any

import pytest

from skitter.errors import BadCondition
from skitter.sinks import Item, Stored
from skitter.sinks.conditions import Condition

pytestmark = pytest.mark.unit

DATA: dict[str, Any] = {
    "price": "99.90",
    "stock": 5,
    "brand": "Acme",
    "empty": "",
    "none": None,
    "sale": True,
    "offers": [{"price": 3}],
    "a.b": "dotted",
    "long": "9" * 200,
}


def holds(text: str) -> bool:
    item = Item("i", "monday", "shop", "https://shop.example/1", "Product", DATA)
    return Condition.parse(text).holds(Stored(item, "2026-01-01T00:00:00.000Z", ""))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("price<100", True),
        ("price < 9.9e1", False),
        ("price>=99.9", True),
        ("price = 99.9", True),
        ("price!=99.90", False),
        ("stock>10", False),
        ("stock<=5", True),
        ("brand=Acme", True),
        ("brand='Acme'", True),
        ("brand!=Acme", False),
        ("brand<B", True),
        ("brand~ACM", True),
        ("brand!~cme", False),
        ("sale=true", True),
        ("offers.0.price=3", True),
        ("a.b=dotted", True),
        ("_job=monday", True),
        ("_first_seen>2025", True),
        ("price", True),
        ("empty", False),
        ("!empty", True),
        ("!none", True),
        ("missing=1", False),
        ("missing!=1", True),
        ("none<1", False),
        ("brand=", False),
        ("price=a=b", False),
        ("long>1", True),
    ],
)
def test_a_condition_holds(text: str, expected: bool) -> None:
    assert holds(text) is expected


@pytest.mark.parametrize("text", ["", "  ", "=1", "<", "!", "!=", "~x"])
def test_what_cannot_be_read_is_told(text: str) -> None:
    with pytest.raises(BadCondition, match="price<100"):
        Condition.parse(text)
