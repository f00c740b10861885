"""The examples of the docs work."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from skitter.extract.cleaners import CLEANERS
from skitter.extract.recipe import model, parse_recipe

DOCS = Path(__file__).parents[3] / "docs"
RECIPES = (DOCS / "recipes.md").read_text(encoding="utf-8")


def test_extraction_examples() -> None:
    result = doctest.testfile(str(DOCS / "extraction.md"), module_relative=False, encoding="utf-8")
    assert result.attempted > 10
    assert result.failed == 0


@pytest.mark.parametrize("text", re.findall(r"```yaml\n(.*?)```", RECIPES, re.DOTALL))
def test_recipe_examples(text: str) -> None:
    assert parse_recipe(text).name


@pytest.mark.parametrize(
    "part", [model.RecipeFile, model.PageRule, model.FieldRule, model.Place, model.FollowRule]
)
def test_every_key_is_documented(part: type[model.Part]) -> None:
    names = [field.alias or name for name, field in part.model_fields.items()]
    assert [name for name in names if f"`{name}`" not in RECIPES] == []


def test_every_cleaner_is_documented() -> None:
    assert [name for name in CLEANERS if f"`{name}`" not in RECIPES] == []
