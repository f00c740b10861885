"""Conditions on an item's fields, as people write them: `price<100`, `brand=Acme`, `!sku`.

A condition is a field (a dot leads into nested ones), an operator and a value; a field alone asks
that it has a value, and `!field` that it has none. Where both sides are numbers they are compared
as numbers (stored prices are often texts), else as texts. Nothing is evaluated.
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from skitter.errors import BadCondition
from skitter.sinks.columns import flat_record, pick
from skitter.sinks.json_text import to_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from skitter.sinks.stored import Stored

_CONDITION = re.compile(r"\s*([^<>=!~\s][^<>=!~]*?)\s*(<=|>=|!=|<|>|=|!~|~)\s*(.*?)\s*", re.DOTALL)
_ALONE = re.compile(r"\s*(!?)\s*([^<>=!~\s][^<>=!~]*?)\s*")
_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}
_LONGEST_NUMBER = 100


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition. operator is as it was written; `has` and `lacks` stand for a field alone."""

    field: str
    operator: str
    value: str = ""

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read a condition; raises BadCondition."""
        if alone := _ALONE.fullmatch(text):
            return cls(alone[2], "lacks" if alone[1] else "has")
        found = _CONDITION.fullmatch(text)
        if found is None:
            raise BadCondition(text=text)
        value = found[3]
        quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
        return cls(found[1], found[2], value[1:-1] if quoted else value)

    def holds(self, found: Stored) -> bool:
        """Whether it holds for an item. Nothing but `!=`, `!~` and `lacks` holds for no value."""
        value = pick(flat_record(found), self.field)
        if self.operator in ("has", "lacks"):
            return (value not in (None, "", [], {})) == (self.operator == "has")
        if value is None:
            return self.operator in ("!=", "!~")
        if self.operator in ("~", "!~"):
            return (self.value.lower() in _text(value).lower()) == (self.operator == "~")
        return self._compares(value)

    def _compares(self, value: Any) -> bool:
        compare, left, right = _ORDERS[self.operator], _number(value), _number(self.value)
        if left is not None and right is not None:
            return compare(left, right)
        return compare(_text(value), self.value)


def _number(value: Any) -> Decimal | None:
    text = value if isinstance(value, str) else str(value)
    if isinstance(value, bool) or len(text) > _LONGEST_NUMBER:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else to_json(value, url="")
