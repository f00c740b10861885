"""The examples of the docs work."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from skitter.spiders.shipped import shipped_recipes
from skitter.validate import MODELS

pytestmark = pytest.mark.unit

DOCS = Path(__file__).parents[3] / "docs"


def test_validation_examples() -> None:
    result = doctest.testfile(str(DOCS / "validation.md"), module_relative=False, encoding="utf-8")
    assert result.attempted >= 4
    assert result.failed == 0


def test_every_shipped_recipe_is_told() -> None:
    text = (DOCS / "spiders.md").read_text(encoding="utf-8")
    assert [name for name in shipped_recipes() if f"| `{name}` |" not in text] == []
    assert sorted(MODELS) == ["product", "quote"]
