"""Recipes by name, from those that are shipped, or by path."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from skitter.errors import BadArgument, BadRecipe
from skitter.extract.locale import locale_of
from skitter.extract.recipe import Recipe, load_recipe, parse_recipe


def shipped_recipes() -> list[str]:
    """The names of the recipes that come with Skitter."""
    folder = files("skitter.spiders") / "recipes"
    return sorted(
        entry.name.removesuffix(".yaml")
        for entry in folder.iterdir()
        if entry.name.endswith(".yaml")
    )


def find_recipe(name: str, *, locale: str = "") -> Recipe:
    """A shipped recipe by its name, or the recipe of a file; read as this locale writes.

    Raises BadRecipe, or BadArgument for a locale that is not known.
    """
    found = _shipped(name) if name in shipped_recipes() else _of_file(name)
    return in_locale(found, locale) if locale else found


def in_locale(recipe: Recipe, locale: str) -> Recipe:
    """The same recipe for a site that writes in another way; what fields declare stays."""
    try:
        locale_of(locale)
    except ValueError as error:
        raise BadArgument(
            name="locale", value=locale, problem=f"cannot be used: {error}"
        ) from error
    parts = {"locale": locale, "decimal": None, "currency": None, "date_order": None}
    file = recipe.file.model_copy(update=parts)
    return Recipe(file, source=recipe.source, version=f"{recipe.version}-{locale}")


@lru_cache(maxsize=64)
def _shipped(name: str) -> Recipe:
    text = (files("skitter.spiders") / "recipes" / f"{name}.yaml").read_text(encoding="utf-8")
    return parse_recipe(text, source=name)


def _of_file(name: str) -> Recipe:
    path = Path(name)
    if path.suffix in (".yaml", ".yml") or path.exists():
        return load_recipe(path)
    known = ", ".join(shipped_recipes())
    raise BadRecipe(
        source=name, problems=f"there is no such recipe, nor such a file; known: {known}"
    )
