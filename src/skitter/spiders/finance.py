"""Quotes: ticker, price, change, percent, volume, market capitalisation, time, currency."""

from __future__ import annotations

from typing import Any, ClassVar

from skitter.spiders.recipe_spider import RecipeSpider


class FinanceSpider(RecipeSpider):
    """Reads quote pages, tables of quotes, and the JSON that pages fill themselves from."""

    name = "finance"
    usual_recipe: ClassVar[str] = "any-quotes"
    about: ClassVar[str] = "quote"
    usual_gates: ClassVar[dict[str, Any]] = {
        "most_drop": 0.2,
        "coverage": {"ticker": 1.0, "price": 1.0, "currency": 1.0},
        "duplicates": {"by": ["ticker", "currency"], "most": 0.01},
        "drift": {"price": 0.5},
        "most_quarantined": 0.02,
    }
