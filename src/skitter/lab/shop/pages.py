"""The shop's HTML: home, categories, listings and product pages, in the locale's class names.

A product page shows the same visible values whatever its structured data; below them stand
cards of other products with prices of their own, as on any shop.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from skitter.lab.shop.structured import itemprop, itemscope, json_ld, offer_items, rating_items

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skitter.lab.shop.catalog import Catalog, Product
    from skitter.lab.shop.shelves import Shelf

_RELATED = 3


class Pages:
    """The pages of one shop, as they are for a client that came by this origin."""

    def __init__(self, catalog: Catalog, *, origin: str, version: int) -> None:
        self._catalog = catalog
        self._origin = origin
        self._version = version
        self._locale = catalog.locale
        self._labels = catalog.locale.labels
        self._classes = catalog.locale.classes

    def home(self) -> str:
        """All categories."""
        groups = self._catalog.shelves.categories()
        links = [(path, shelves[0].category) for path, shelves in groups.items()]
        return self._frame(self._labels.home, path="/", body=self._categories(links))

    def category(self, path: str, shelves: list[Shelf]) -> str:
        """The sub-categories of a category."""
        links = [(shelf.path, shelf.name) for shelf in shelves]
        body = self._crumbs([(path, shelves[0].category)]) + self._categories(links)
        return self._frame(shelves[0].category, path=path, body=body)

    def listing(self, shelf: Shelf, page: int) -> str:
        """A page of a sub-category's products."""
        numbers = self._catalog.shelves.page(shelf, page)
        cards = self._cards((self._product(number) for number in numbers), shelf=shelf)
        body = (
            self._crumbs([(shelf.category_path, shelf.category), (shelf.path, shelf.name)])
            + f'<ul class="{self._classes.listing}">\n{cards}</ul>\n'
            + self._pagination(shelf, page)
        )
        return self._frame(shelf.name, path=self.page_path(shelf, page), body=body)

    def product(self, product: Product) -> str:
        """A product's own page."""
        micro = product.markup == "microdata"
        shelf = product.shelf
        scope = itemscope("Product") if micro else ""
        body = (
            self._crumbs([(shelf.category_path, shelf.category), (shelf.path, shelf.name)])
            + f"<main{scope}>\n{self._facts(product, micro=micro)}</main>\n"
            + self._related(product)
        )
        currency = self._locale.currency
        ld = product.markup == "json-ld"
        head = json_ld(product, origin=self._origin, currency=currency) if ld else ""
        return self._frame(product.name, path=product.path, body=body, head=head)

    def page_path(self, shelf: Shelf, page: int) -> str:
        """The path of a page of a listing; the first one is the sub-category itself."""
        return f"{shelf.path}?{self._locale.page_parameter}={page}" if page > 1 else shelf.path

    def _product(self, number: int) -> Product:
        return self._catalog.product(number, version=self._version)

    def _frame(self, title: str, *, path: str, body: str, head: str = "") -> str:
        name = escape(title)
        # Product pages have their own heading, whose class the locale names.
        heading = "" if "<h1" in body else f"<h1>{name}</h1>\n"
        return (
            f'<!doctype html>\n<html lang="{self._locale.name}"><head><meta charset="utf-8">\n'
            f"<title>{name}</title>\n"
            f'<link rel="canonical" href="{self._origin}{escape(path)}">\n{head}</head>\n<body>\n'
            f'<header><a href="/">{self._labels.home}</a></header>\n{heading}{body}</body></html>\n'
        )

    def _categories(self, links: list[tuple[str, str]]) -> str:
        items = "".join(f'<li><a href="{path}">{escape(name)}</a></li>\n' for path, name in links)
        return f'<ul class="{self._classes.categories}">\n{items}</ul>\n'

    def _crumbs(self, steps: list[tuple[str, str]]) -> str:
        links = [("/", self._labels.home), *steps]
        items = "".join(f'<li><a href="{path}">{escape(name)}</a></li>' for path, name in links)
        return f'<nav class="{self._classes.breadcrumb}"><ol>{items}</ol></nav>\n'

    def _cards(self, products: Iterable[Product], *, shelf: Shelf | None = None) -> str:
        return "".join(self._card(product, shelf) for product in products)

    def _card(self, product: Product, shelf: Shelf | None) -> str:
        path = product.alias_path if shelf == product.second else product.path
        return (
            f'<li class="{self._classes.card}"><a class="{self._classes.card_title}" '
            f'href="{escape(path)}">{escape(product.name)}</a>{self._prices(product)}</li>\n'
        )

    def _prices(self, product: Product) -> str:
        """The price, and before or after it the crossed-out one."""
        offer, look, classes = product.offer, product.look, self._classes
        price = self._locale.price_text(offer.price, look=look)
        parts = [f'<span class="{classes.price}">{price}</span>']
        if offer.regular_price is not None:
            was = self._locale.price_text(offer.regular_price, look=look)
            parts.insert(look % 2, f'<del class="{classes.was}">{was}</del>')
        return " ".join(parts)

    def _pagination(self, shelf: Shelf, page: int) -> str:
        last = self._catalog.shelves.pages(shelf)
        near = range(max(1, page - 2), min(last, page + 2) + 1)
        shown = sorted({1, last, *near} - {page})
        links = [self._page_link(shelf, number, str(number)) for number in shown]
        if page > 1:
            links.insert(0, self._page_link(shelf, page - 1, self._labels.previous, rel="prev"))
        if page < last:
            links.append(self._page_link(shelf, page + 1, self._labels.next, rel="next"))
        return f'<nav class="{self._classes.pagination}">{" ".join(links)}</nav>\n'

    def _page_link(self, shelf: Shelf, page: int, text: str, *, rel: str = "") -> str:
        relation = f' rel="{rel}"' if rel else ""
        return f'<a{relation} href="{self.page_path(shelf, page)}">{text}</a>'

    def _facts(self, product: Product, *, micro: bool) -> str:
        images = "".join(
            f'<img src="{path}" alt=""{itemprop("image", there=micro)}>' for path in product.images
        )
        title = f'"{self._classes.title}"{itemprop("name", there=micro)}'
        words = f'"{self._classes.description}"{itemprop("description", there=micro)}'
        return (
            f"<h1 class={title}>{escape(product.name)}</h1>\n"
            f'<div class="{self._classes.gallery}">{images}</div>\n'
            f"{self._offer(product, micro=micro)}{self._rating(product, micro=micro)}"
            f"{self._makers_data(product, micro=micro)}"
            f"<div class={words}>\n  {escape(product.description)}\n</div>\n"
            f'<a rel="nofollow" href="/cart/{product.number}">{self._labels.cart}</a>\n'
        )

    def _makers_data(self, product: Product, *, micro: bool) -> str:
        sku = f'"{self._classes.sku}"{itemprop("sku", there=micro)}'
        brand = f'"{self._classes.brand}"{itemprop("brand", there=micro)}'
        return (
            f"<dl><dt>{self._labels.sku}</dt><dd class={sku}>{product.sku}</dd>\n"
            f"<dt>{self._labels.brand}</dt><dd class={brand}>{escape(product.brand)}</dd></dl>\n"
        )

    def _offer(self, product: Product, *, micro: bool) -> str:
        offer, classes = product.offer, self._classes
        words = self._locale.stock_text(offer.availability, stock=offer.stock, look=product.look)
        scope = itemprop("offers", there=True) + itemscope("Offer") if micro else ""
        items = offer_items(product, currency=self._locale.currency) if micro else ""
        return (
            f'<div class="{classes.offer}"{scope}>{items}{self._prices(product)}\n'
            f'<p class="{classes.stock}">{words}</p></div>\n'
        )

    def _rating(self, product: Product, *, micro: bool) -> str:
        if product.rating is None or product.reviews is None:
            return ""
        scope = (
            itemprop("aggregateRating", there=True) + itemscope("AggregateRating") if micro else ""
        )
        items = rating_items(product) if micro else ""
        rating = self._locale.rating_text(product.rating)
        reviews = self._locale.reviews_text(product.reviews)
        return (
            f'<div{scope}>{items}<span class="{self._classes.rating}">{rating}</span> '
            f'(<span class="{self._classes.reviews}">{reviews}</span>)</div>\n'
        )

    def _related(self, product: Product) -> str:
        """The first others of the product's shelf."""
        first = self._catalog.shelves.page(product.shelf, 1)
        others = [number for number in first if number != product.number][:_RELATED]
        cards = self._cards(map(self._product, others))
        title = f"<h2>{self._labels.related}</h2>"
        return f'<aside class="{self._classes.related}">{title}<ul>\n{cards}</ul></aside>\n'
