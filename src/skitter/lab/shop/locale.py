"""How a shop speaks: its words, its prices, its class names; read from `locales/<name>.yaml`."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files

import yaml
from pydantic import TypeAdapter

from skitter.lab.figures import grouped


@dataclass(frozen=True)
class Labels:
    """The words around the values."""

    home: str
    cart: str
    sku: str
    brand: str
    rating: str
    reviews: str
    next: str
    previous: str
    related: str


@dataclass(frozen=True)
class Classes:
    """The class names of a shop's HTML, which stay the same on all its pages."""

    categories: str
    breadcrumb: str
    listing: str
    card: str
    card_title: str
    pagination: str
    title: str
    gallery: str
    offer: str
    price: str
    was: str
    stock: str
    sku: str
    brand: str
    rating: str
    reviews: str
    description: str
    related: str


@dataclass(frozen=True)
class Locale:
    """A language and a country, as one shop of it has them."""

    name: str
    currency: str
    """The ISO code."""
    places: int
    """Decimals of a price."""
    step: int
    """Prices are multiples of so many of the smallest units."""
    decimal_mark: str
    thousands: tuple[str, ...]
    """What stands between thousands; products differ."""
    price_patterns: tuple[str, ...]
    """An amount with its currency; products differ."""
    page_parameter: str
    name_pattern: str
    labels: Labels
    stock: dict[str, tuple[str, ...]]
    """Wordings by availability; `counted` is in stock with a number of pieces."""
    descriptions: tuple[str, ...]
    categories: dict[str, dict[str, str]]
    """Categories, their sub-categories, and what one product of these is called."""
    classes: Classes

    def price_text(self, amount: Decimal, *, look: int) -> str:
        """A price as the page shows it; the look, a number of the product's own, picks how."""
        digits = grouped(
            amount,
            places=self.places,
            mark=self.decimal_mark,
            thousands=self.thousands[look % len(self.thousands)],
        )
        return self.price_patterns[look // 7 % len(self.price_patterns)].format(digits)

    def rating_text(self, rating: Decimal) -> str:
        """A rating as the page shows it."""
        value = grouped(rating, places=1, mark=self.decimal_mark, thousands="")
        return self.labels.rating.format(value=value)

    def reviews_text(self, count: int) -> str:
        """A number of reviews as the page shows it."""
        digits = grouped(count, places=0, mark="", thousands=self.thousands[0])
        return self.labels.reviews.format(count=digits)

    def stock_text(self, availability: str, *, stock: int | None, look: int) -> str:
        """An availability as the page words it."""
        wordings = self.stock["counted" if stock is not None else availability]
        return wordings[look // 3 % len(wordings)].format(count=stock)


@cache
def load_locale(name: str) -> Locale:
    """The locale of this name."""
    text = (files("skitter.lab.shop") / "locales" / f"{name}.yaml").read_text(encoding="utf-8")
    return TypeAdapter(Locale).validate_python({"name": name, **yaml.safe_load(text)})
