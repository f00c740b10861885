"""Recipes: a site's pages, fields and links in a short YAML file instead of Python."""

from skitter.extract.recipe.extracting import Extraction, Recipe
from skitter.extract.recipe.links import Link
from skitter.extract.recipe.loading import load_recipe, parse_recipe

__all__ = ["Extraction", "Link", "Recipe", "load_recipe", "parse_recipe"]
