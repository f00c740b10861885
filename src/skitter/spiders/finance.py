"""Quotes: ticker, price, change, percent, volume, market capitalisation, time, currency."""

from __future__ import annotations

from typing import ClassVar

from skitter.spiders.recipe_spider import RecipeSpider


class FinanceSpider(RecipeSpider):
    """Reads quote pages, tables of quotes, and the JSON that pages fill themselves from."""

    name = "finance"
    usual_recipe: ClassVar[str] = "any-quotes"
    about: ClassVar[str] = "quote"
