"""A shop's host: from a path to its answer, every path that links lead to, and the truth.

/                              the categories
/c/<category>/                 its sub-categories
/c/<category>/<sub>/[?page=2]  its products, page by page (the parameter's name is the locale's)
/p/<name>-<number>.html        a product; with another name it redirects to the right one
/img/<number>-<k>.png|jpg      a picture
/cart/…                        linked from products, and forbidden by robots.txt
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from skitter.lab.answer import Answer, redirect
from skitter.lab.shop import pictures
from skitter.lab.shop.catalog import Catalog, Product
from skitter.lab.shop.locale import load_locale
from skitter.lab.shop.pages import Pages
from skitter.lab.shop.truth import truth_row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skitter.lab.demo_spec import ShopSpec
    from skitter.lab.dice import Dice
    from skitter.lab.shop.shelves import Shelf
    from skitter.lab.wire import Request

_PRODUCT = re.compile(r"/p/[a-z0-9-]*-(0|[1-9]\d{0,11})\.html")
_IMAGE = re.compile(r"/img/(0|[1-9]\d{0,11})-[1-9]\.(?:png|jpg)")


class Shop:
    """The shop of one locale."""

    disallow: tuple[str, ...] = ("/cart/",)

    def __init__(self, spec: ShopSpec, locale: str, dice: Dice) -> None:
        self.host = spec.host(locale)
        self.locale = load_locale(locale)
        self.delay_ms = spec.delay_ms
        self.concurrency = spec.concurrency
        self._spec = spec
        self._catalog = Catalog(spec, self.locale, dice)
        self._shelves = self._catalog.shelves
        self._categories = self._shelves.categories()

    @property
    def entries(self) -> int:
        """How many pages the sitemap has: the products."""
        return self._spec.products

    def entry(self, number: int) -> str:
        """The path of a page of the sitemap."""
        return self._catalog.product(number, version=0).path

    def answer(self, request: Request, *, origin: str, version: int) -> Answer | None:
        """The answer at a version, or None where nothing is."""
        pages = Pages(self._catalog, origin=origin, version=version)
        path = request.path
        if path == "/":
            return _html(pages.home())
        if path in self._categories:
            return _html(pages.category(path, self._categories[path]))
        if path in self._shelves.by_path:
            return self._listing(pages, self._shelves.by_path[path], request)
        if path.startswith("/cart/"):
            return Answer(body=b"1\n", content_type="text/plain; charset=utf-8")
        return self._product(pages, path, version=version) or self._picture(path, version=version)

    def paths(self) -> Iterator[str]:
        """Every path that links lead to, forbidden ones aside."""
        yield "/"
        yield from self._categories
        pages = Pages(self._catalog, origin="", version=0)
        for shelf in self._shelves.all:
            for page in range(1, self._shelves.pages(shelf) + 1):
                yield pages.page_path(shelf, page)
        for product in self._products(0):
            yield product.path
            if product.alias:
                yield product.alias_path

    def truth(self, version: int) -> Iterator[dict[str, Any]]:
        """Every product's exact values at a version."""
        for product in self._products(version):
            yield truth_row(product, host=self.host, locale=self.locale, version=version)

    def _products(self, version: int) -> Iterator[Product]:
        for number in range(self._spec.products):
            yield self._catalog.product(number, version=version)

    def _listing(self, pages: Pages, shelf: Shelf, request: Request) -> Answer | None:
        given = parse_qs(request.query).get(self.locale.page_parameter, ["1"])[0]
        page = int(given) if given.isascii() and given.isdigit() and len(given) < 12 else 0
        if not 1 <= page <= self._shelves.pages(shelf):
            return None
        return _html(pages.listing(shelf, page))

    def _product(self, pages: Pages, path: str, *, version: int) -> Answer | None:
        product = self._known(_PRODUCT.fullmatch(path), version=version)
        if product is None:
            return None
        return (
            _html(pages.product(product)) if path == product.path else redirect(301, product.path)
        )

    def _picture(self, path: str, *, version: int) -> Answer | None:
        product = self._known(_IMAGE.fullmatch(path), version=version)
        if product is None or path not in product.images:
            return None
        number = product.number * 10 + product.images.index(path)
        if path.endswith(".png"):
            return Answer(body=pictures.png(number), content_type="image/png")
        return Answer(body=pictures.jpeg(number), content_type="image/jpeg")

    def _known(self, match: re.Match[str] | None, *, version: int) -> Product | None:
        number = int(match[1]) if match else self._spec.products
        if number >= self._spec.products:
            return None
        return self._catalog.product(number, version=version)


def _html(page: str) -> Answer:
    return Answer(body=page.encode())
