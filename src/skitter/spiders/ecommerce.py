"""Products of shops: name, price, currency, stock, SKU, brand, category, rating, images."""

from __future__ import annotations

from typing import Any, ClassVar

from skitter.spiders.recipe_spider import RecipeSpider


class EcommerceSpider(RecipeSpider):
    """Goes through a shop by its listings to its products.

    Without a recipe it reads what the pages tell machines, and looks at every page of the shop.
    """

    name = "ecommerce"
    usual_recipe: ClassVar[str] = "any-shop"
    about: ClassVar[str] = "product"
    usual_gates: ClassVar[dict[str, Any]] = {
        "most_drop": 0.5,
        "coverage": {"name": 1.0, "price": 0.8, "currency": 0.8},
        "duplicates": {"by": ["sku", "name", "price"], "most": 0.05},
        "drift": {"price": 0.3},
        "most_quarantined": 0.05,
    }
