"""The exact values of a product: what a spider's item is compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skitter.lab.shop.catalog import Product
    from skitter.lab.shop.locale import Locale


def truth_row(product: Product, *, host: str, locale: Locale, version: int) -> dict[str, Any]:
    """A product as plain values; amounts as text with all their decimals."""
    origin, offer = f"http://{host}", product.offer
    stock_text = locale.stock_text(offer.availability, stock=offer.stock, look=product.look)
    return {
        "version": version,
        "host": host,
        "locale": locale.name,
        "url": f"{origin}{product.path}",
        "sku": product.sku,
        "name": product.name,
        "brand": product.brand,
        "category": product.categories[0],
        "categories": product.categories,
        "description": product.description,
        "images": [f"{origin}{path}" for path in product.images],
        "price": str(offer.price),
        "regular_price": _text(offer.regular_price),
        "currency": locale.currency,
        "price_text": locale.price_text(offer.price, look=product.look),
        "availability": offer.availability,
        "availability_text": stock_text,
        "stock": offer.stock,
        "rating": _text(product.rating),
        "reviews": product.reviews,
        "markup": product.markup,
    }


def _text(value: object) -> str | None:
    return None if value is None else str(value)
