"""Products of shops: name, price, currency, stock, SKU, brand, category, rating, images."""

from __future__ import annotations

from typing import ClassVar

from skitter.spiders.recipe_spider import RecipeSpider


class EcommerceSpider(RecipeSpider):
    """Goes through a shop by its listings to its products.

    Without a recipe it reads what the pages tell machines, and looks at every page of the shop.
    """

    name = "ecommerce"
    usual_recipe: ClassVar[str] = "any-shop"
    about: ClassVar[str] = "product"
