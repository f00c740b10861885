"""Structured data on product pages: JSON-LD in the shapes that shops use, and microdata.

The shapes of JSON-LD differ as they do in the field: one object, a graph with breadcrumbs, a
list; an offer or a list of offers; a price as text or as a number; a brand as text or an object.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skitter.lab.shop.catalog import Product

_CONTEXT = "https://schema.org"


def json_ld(product: Product, *, origin: str, currency: str) -> str:
    """A script element with the product's data."""
    node = _product(product, origin=origin, currency=currency)
    documents: tuple[Any, ...] = (
        {"@context": _CONTEXT, **node},
        {"@context": _CONTEXT, "@graph": [_breadcrumbs(product, origin=origin), node]},
        [{"@context": "http://schema.org/", **node}],
    )
    data = json.dumps(documents[product.look % 3], ensure_ascii=product.look % 2 == 0)
    text = data.replace("</", "<\\/")
    return f'<script type="application/ld+json">\n{text}\n</script>\n'


def itemscope(kind: str) -> str:
    """The attributes of an element that describes a thing of this kind."""
    return f' itemscope itemtype="{_CONTEXT}/{kind}"'


def itemprop(name: str, *, there: bool) -> str:
    """The attribute of an element that holds a property, on pages with microdata."""
    return f' itemprop="{name}"' if there else ""


def offer_items(product: Product, *, currency: str) -> str:
    """The machine's half of an offer in microdata."""
    return (
        f'<meta itemprop="price" content="{product.offer.price}">'
        f'<meta itemprop="priceCurrency" content="{currency}">'
        f'<link itemprop="availability" href="{_CONTEXT}/{product.offer.availability}">'
    )


def rating_items(product: Product) -> str:
    """The machine's half of a rating in microdata."""
    return (
        f'<meta itemprop="ratingValue" content="{product.rating}">'
        f'<meta itemprop="reviewCount" content="{product.reviews}">'
        '<meta itemprop="bestRating" content="5">'
    )


def _product(product: Product, *, origin: str, currency: str) -> dict[str, Any]:
    wordy = product.look % 5 < 3
    node: dict[str, Any] = {
        "@type": "Product",
        "name": product.name,
        "sku": product.sku,
        "brand": {"@type": "Brand", "name": product.brand} if wordy else product.brand,
        "description": product.description,
        "image": [f"{origin}{path}" for path in product.images],
        "url": f"{origin}{product.path}",
        "offers": _offer(product, currency=currency),
    }
    if product.rating is not None:
        node["aggregateRating"] = {
            "@type": "AggregateRating",
            "ratingValue": str(product.rating) if wordy else float(product.rating),
            "reviewCount": product.reviews,
            "bestRating": "5",
        }
    return node


def _offer(product: Product, *, currency: str) -> Any:
    price = product.offer.price
    offer = {
        "@type": "Offer",
        "price": str(price) if product.look % 4 else float(price),
        "priceCurrency": currency,
        "availability": f"{_CONTEXT}/{product.offer.availability}",
    }
    return [offer] if product.look % 11 < 4 else offer


def _breadcrumbs(product: Product, *, origin: str) -> dict[str, Any]:
    shelf = product.shelf
    steps = [(shelf.category, shelf.category_path), (shelf.name, shelf.path)]
    return {
        "@type": "BreadcrumbList",
        "itemListElement": [
            {"@type": "ListItem", "position": place, "name": name, "item": f"{origin}{path}"}
            for place, (name, path) in enumerate(steps, 1)
        ],
    }
