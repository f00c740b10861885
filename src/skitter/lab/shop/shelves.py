"""Which product is listed where, by arithmetic alone: a shop of a million products costs nothing.

A shelf is a sub-category. Product n is at home on shelf n modulo the number of shelves, in row
n divided by it. Rows at even distances are guests on a second shelf too, the same number of
shelves further on for the whole shop; a listing shows its own products first, then its guests.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skitter.lab.demo_spec import ShopSpec
    from skitter.lab.dice import Dice
    from skitter.lab.shop.locale import Locale

_PERMILLE = 1000


@dataclass(frozen=True, slots=True)
class Shelf:
    """A sub-category."""

    number: int
    category: str
    name: str
    noun: str
    """What one product of it is called."""

    @property
    def category_path(self) -> str:
        return f"/c/{slug(self.category)}/"

    @property
    def slug(self) -> str:
        return slug(self.name)

    @property
    def path(self) -> str:
        return f"{self.category_path}{self.slug}/"


class Shelves:
    """The sub-categories of a shop, and the products on them."""

    def __init__(self, spec: ShopSpec, locale: Locale, dice: Dice) -> None:
        names = [
            (category, name, noun)
            for category, shelves in locale.categories.items()
            for name, noun in shelves.items()
        ][: spec.products]
        self.all = tuple(Shelf(number, *name) for number, name in enumerate(names))
        self.by_path = {shelf.path: shelf for shelf in self.all}
        self._spec = spec
        others = len(self.all) - 1
        self._shift = 1 + dice.number("shelves", locale.name) % others if others else 0
        self._twice = round(spec.twice * _PERMILLE) if others else 0

    def categories(self) -> dict[str, list[Shelf]]:
        """The shelves of each category's path."""
        found: dict[str, list[Shelf]] = {}
        for shelf in self.all:
            found.setdefault(shelf.category_path, []).append(shelf)
        return found

    def home(self, product: int) -> Shelf:
        """The shelf that a product is at home on."""
        return self.all[product % len(self.all)]

    def second(self, product: int) -> Shelf | None:
        """The second shelf of a product, if it has one."""
        row, home = divmod(product, len(self.all))
        if (row + 1) * self._twice // _PERMILLE == row * self._twice // _PERMILLE:
            return None
        return self.all[(home + self._shift) % len(self.all)]

    def size(self, shelf: Shelf) -> int:
        """How many products a shelf lists."""
        return self._own(shelf.number) + self._guests(shelf)

    def pages(self, shelf: Shelf) -> int:
        """How many pages a shelf's listing has."""
        return -(-self.size(shelf) // self._spec.per_page)

    def page(self, shelf: Shelf, page: int) -> Iterator[int]:
        """The products on a page of a shelf's listing, counted from 1."""
        start = (page - 1) * self._spec.per_page
        own = self._own(shelf.number)
        for place in range(start, min(start + self._spec.per_page, self.size(shelf))):
            if place < own:
                yield place * len(self.all) + shelf.number
            else:
                yield self._guest(shelf, place - own)

    def _own(self, number: int) -> int:
        return -(-(self._spec.products - number) // len(self.all))

    def _guests(self, shelf: Shelf) -> int:
        return self._own(self._sender(shelf)) * self._twice // _PERMILLE

    def _guest(self, shelf: Shelf, place: int) -> int:
        row = -(-(place + 1) * _PERMILLE // self._twice) - 1
        return row * len(self.all) + self._sender(shelf)

    def _sender(self, shelf: Shelf) -> int:
        """The number of the shelf whose products are guests on this one."""
        return (shelf.number - self._shift) % len(self.all)


def slug(text: str) -> str:
    """A text as a part of a path."""
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss"))
    return re.sub(r"[^a-z0-9]+", "-", plain.encode("ascii", "ignore").decode().lower()).strip("-")
