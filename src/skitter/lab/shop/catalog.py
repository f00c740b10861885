"""What a product is: its lasting facts from the seed, its offer from the seed and the version.

A price or a stock that a version changes always differs from the one before: prices of even
editions lie at or above the product's base price, those of odd ones below it; stock goes round
five states.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from skitter.lab.figures import between, edition, pick
from skitter.lab.shop.shelves import Shelf, Shelves, slug

if TYPE_CHECKING:
    from random import Random

    from skitter.lab.demo_spec import ShopSpec
    from skitter.lab.dice import Dice
    from skitter.lab.shop.locale import Locale

BRANDS = (
    "Norwick", "Hale & Sons", "Åsvik", "Quentaro", "Lumière", "O'Dell", "Tesselune", "Vantrel",
    "Kirromax", "Belmora", "Zephyr-9", "Ottenfels",
)  # fmt: skip
_SERIES = ("Pro", "Air", "Max", "Eco", "Mini", "Plus", "Studio", "One")
_SIZES = ("", "", '13.3" ', '27" ')
_CHEAPEST, _DEAREST = 3, 4000
_STOCK_STATES = 5
_REMEMBERED = 1000


@dataclass(frozen=True, slots=True)
class Offer:
    """What a product costs and whether it is there, at a version."""

    price: Decimal
    regular_price: Decimal | None
    """The crossed-out price, if the product is on sale."""
    availability: str
    """As schema.org names it: InStock, OutOfStock, PreOrder or BackOrder."""
    stock: int | None
    """How many pieces the page tells of, if it does."""


@dataclass(frozen=True, slots=True)
class Product:
    """A product of one shop at one version."""

    number: int
    path: str
    """The one path that its canonical link names."""
    name: str
    brand: str
    sku: str
    shelf: Shelf
    second: Shelf | None
    description: str
    images: tuple[str, ...]
    rating: Decimal | None
    reviews: int | None
    markup: str
    look: int
    """A number that picks among equal ways to show things."""
    alias: bool
    """Whether its second listing leads to another URL."""
    offer: Offer

    @property
    def alias_path(self) -> str:
        """The path by which its second listing leads to it."""
        return f"{self.path}?ref={self.second.slug}" if self.alias and self.second else self.path

    @property
    def categories(self) -> list[list[str]]:
        """Category and sub-category of each listing that it is in."""
        shelves = [self.shelf, self.second] if self.second else [self.shelf]
        return [[shelf.category, shelf.name] for shelf in shelves]


class Catalog:
    """All products of a shop."""

    def __init__(self, spec: ShopSpec, locale: Locale, dice: Dice) -> None:
        self.locale = locale
        self.shelves = Shelves(spec, locale, dice)
        self._spec = spec
        self._dice = dice
        # A product is on its own page, in listings and beside others, all at about the same time.
        self._recent = lru_cache(maxsize=_REMEMBERED)(self._make)

    def product(self, number: int, *, version: int) -> Product:
        """A product by its number, from 0."""
        return self._recent(number, version)

    def _make(self, number: int, version: int) -> Product:
        roll = self._dice.stream("product", self.locale.name, number)
        shelf, second = self.shelves.home(number), self.shelves.second(number)
        brand = pick(roll, BRANDS)
        name = self._name(number, roll, shelf=shelf, brand=brand)
        return Product(
            number=number,
            path=f"/p/{slug(name)}-{number}.html",
            name=name,
            brand=brand,
            sku=f"{_initials(brand)}-{number:06d}",
            shelf=shelf,
            second=second,
            description=pick(roll, self.locale.descriptions).format(noun=shelf.noun, brand=brand),
            images=_images(number, roll),
            markup=pick(roll, self._spec.markup),
            alias=second is not None and roll.random() < self._spec.aliases,
            look=between(roll, 0, 9999),
            **_opinion(roll),
            offer=self._offer(number, roll, version=version),
        )

    def _name(self, number: int, roll: Random, *, shelf: Shelf, brand: str) -> str:
        letter = pick(roll, "ABCDEFGHKLMNPRSTVWXZ")
        model = f"{pick(roll, _SERIES)} {pick(roll, _SIZES)}{letter}{number + 100}"
        return self.locale.name_pattern.format(brand=brand, noun=shelf.noun, model=model)

    def _offer(self, number: int, roll: Random, *, version: int) -> Offer:
        spec = self._spec
        base = self._base_price(roll)
        prices = edition(version, share=spec.price_changes, phase=roll.random())
        stocks = edition(version, share=spec.stock_changes, phase=roll.random())
        start, stride = between(roll, 0, _STOCK_STATES - 1), between(roll, 1, _STOCK_STATES - 1)
        price, regular_price = self._prices(number, base, prices)
        availability, stock = self._stock(number, stocks, state=(start + stocks * stride))
        return Offer(price, regular_price, availability, stock)

    def _base_price(self, roll: Random) -> int:
        """In smallest units; cheap products are as many as dear ones, on a scale of magnitudes."""
        amount = _CHEAPEST * (_DEAREST / _CHEAPEST) ** roll.random()
        return self._rounded(int(amount * 10**self.locale.places))

    def _prices(self, number: int, base: int, times: int) -> tuple[Decimal, Decimal | None]:
        roll = self._dice.stream("price", self.locale.name, number, times)
        permille = between(roll, 900, 998) if times % 2 else between(roll, 1000, 1100)
        price = self._rounded(base * permille // 1000)
        if roll.random() >= self._spec.sales:
            return self._amount(price), None
        regular = self._rounded(price * between(roll, 1100, 1500) // 1000)
        return self._amount(price), self._amount(regular)

    def _stock(self, number: int, times: int, *, state: int) -> tuple[str, int | None]:
        roll = self._dice.stream("stock", self.locale.name, number, times)
        states = (
            ("InStock", None),
            ("InStock", between(roll, 2, 9)),
            ("OutOfStock", None),
            ("InStock", between(roll, 10, 60)),
            (pick(roll, ("PreOrder", "BackOrder")), None),
        )
        return states[state % _STOCK_STATES]

    def _rounded(self, units: int) -> int:
        return units // self.locale.step * self.locale.step

    def _amount(self, units: int) -> Decimal:
        return Decimal(units).scaleb(-self.locale.places)


def _initials(brand: str) -> str:
    return slug(brand).replace("-", "")[:3].upper()


def _images(number: int, roll: Random) -> tuple[str, ...]:
    kinds = [pick(roll, ("png", "jpg")) for _ in range(between(roll, 1, 3))]
    return tuple(f"/img/{number}-{place}.{kind}" for place, kind in enumerate(kinds, 1))


def _opinion(roll: Random) -> dict[str, Any]:
    """Rating and number of reviews; a fifth of the products has none."""
    unrated, tenths, reviews = roll.random() < 0.2, between(roll, 20, 50), between(roll, 2, 3000)
    if unrated:
        return {"rating": None, "reviews": None}
    return {"rating": Decimal(tenths).scaleb(-1), "reviews": reviews}
