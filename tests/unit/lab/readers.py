"""Reads the demo sites' pages without the code that writes them.

Class names, marks and words stand here again on purpose: a page and its truth that went wrong in
the same way would agree with each other, and not with this.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from urllib.parse import urljoin

from parsel import Selector

Row = dict[str, Any]

SPACES = " \u00a0\u202f\u2009"
COMMA_LOCALES = ("de-DE", "fr-FR", "fr-TN")
CURRENCIES = {"$": "USD", "£": "GBP", "€": "EUR", "EUR": "EUR", "DT": "TND"}
COMMON = {
    "title": "product-title", "gallery": "product-images", "price": "price", "was": "price-was",
    "stock": "availability", "sku": "sku", "brand": "brand", "rating": "rating-value",
    "reviews": "rating-count", "description": "product-description", "breadcrumb": "breadcrumb",
    "card": "product-card", "categories": "category-list",
}  # fmt: skip
TUNISIAN = {
    "title": "product-detail-name", "gallery": "product-cover", "price": "current-price",
    "was": "regular-price", "stock": "product-availability", "sku": "product-reference",
    "brand": "product-manufacturer", "rating": "product-note", "reviews": "product-avis",
    "description": "product-detail-text", "breadcrumb": "fil-ariane", "card": "product-miniature",
    "categories": "menu-categories",
}  # fmt: skip
WORDINGS = {
    "OutOfStock": r"out of stock|sold out|unavailable|not available|nicht auf lager|ausverkauft"
    r"|nicht verfügbar|vergriffen|rupture|épuisé|indisponible|hors stock|non disponible",
    "PreOrder": r"pre-order|vorbestell|précommande",
    "BackOrder": r"back ?order|to order|auf bestellung|für sie bestellt|sur commande",
    "InStock": r"stock|available|ready|lager|lieferbar|verfügbar|disponible",
}
MINUS_SIGNS = "-\u2212\u2013\ufe63\uff0d"
MAGNITUDES = {"K": 3, "M": 6, "B": 9, "T": 12}
ZONES = {"EDT": -4, "CEST": 2, "BST": 1, "JST": 9}
TIMES = {
    "EDT": "%b %d, %Y, %I:%M %p",
    "CEST": "%d.%m.%Y %H:%M",
    "BST": "%d %b %Y %H:%M",
    "JST": "%Y/%m/%d %H:%M",
}


def classes_of(locale: str) -> dict[str, str]:
    return TUNISIAN if locale == "fr-TN" else COMMON


def amount(text: str, *, comma: bool) -> Decimal:
    """The number in a text whose decimal mark is a comma or a point."""
    digits = "".join(char for char in text if char.isdigit() or char in ",.")
    thousands, mark = (".", ",") if comma else (",", ".")
    return Decimal(digits.replace(thousands, "").replace(mark, "."))


def read_product(body: bytes, url: str) -> Row:
    """The values that a product page shows to people."""
    page = Selector(body.decode())
    locale = page.xpath("/html/@lang").get("")
    names, comma = classes_of(locale), locale in COMMA_LOCALES
    main = page.css("main")

    def words(name: str) -> str | None:
        found = main.css(f".{names[name]}::text").getall()
        assert len(found) <= 1
        return found[0].strip() if found else None

    price, stock = words("price") or "", words("stock") or ""
    was, rating, reviews = words("was"), words("rating"), words("reviews")
    return {
        "locale": locale,
        "url": page.css("link[rel=canonical]::attr(href)").get(),
        "sku": words("sku"),
        "name": words("title"),
        "brand": words("brand"),
        "category": page.css(f".{names['breadcrumb']} a::text").getall()[1:],
        "description": words("description"),
        "images": [
            urljoin(url, source)
            for source in main.css(f".{names['gallery']} img::attr(src)").getall()
        ],
        "price": amount(price, comma=comma),
        "price_text": price,
        "currency": CURRENCIES[price.strip(f"0123456789,.{SPACES}")],
        "regular_price": amount(was, comma=comma) if was else None,
        "availability": _availability(stock),
        "availability_text": stock,
        "stock": int(digits[0]) if (digits := re.findall(r"\d+", stock)) else None,
        "rating": amount(re.split(r" out| von| sur| /", rating)[0], comma=comma)
        if rating
        else None,
        "reviews": int(re.sub(r"\D", "", reviews)) if reviews else None,
    }


def read_json_ld(body: bytes) -> Row | None:
    """The values in a page's JSON-LD."""
    text = Selector(body.decode()).xpath('//script[@type="application/ld+json"]/text()').get()
    if text is None:
        return None
    data = json.loads(text, parse_float=Decimal)
    nodes = data if isinstance(data, list) else data.get("@graph", [data])
    node = next(node for node in nodes if node["@type"] == "Product")
    offer = node["offers"][0] if isinstance(node["offers"], list) else node["offers"]
    brand, rating = node["brand"], node.get("aggregateRating")
    return {
        **{name: node[name] for name in ("name", "sku", "url", "description")},
        "images": node["image"],
        "brand": brand["name"] if isinstance(brand, dict) else brand,
        "price": Decimal(offer["price"]),
        "currency": offer["priceCurrency"],
        "availability": offer["availability"].removeprefix("https://schema.org/"),
        "rating": Decimal(rating["ratingValue"]) if rating else None,
        "reviews": rating["reviewCount"] if rating else None,
    }


def read_microdata(body: bytes, url: str) -> Row | None:
    """The values in a page's microdata."""
    page = Selector(body.decode()).css('[itemtype="https://schema.org/Product"]')
    if not page:
        return None

    def value(name: str, how: str) -> str | None:
        found = page.css(f'[itemprop="{name}"]::{how}').get()
        return found.strip() if found else None

    rating, reviews = value("ratingValue", "attr(content)"), value("reviewCount", "attr(content)")
    images = page.css('[itemprop="image"]::attr(src)').getall()
    return {
        **{name: value(name, "text") for name in ("name", "sku", "brand", "description")},
        "images": [urljoin(url, image) for image in images],
        "price": Decimal(value("price", "attr(content)") or ""),
        "currency": value("priceCurrency", "attr(content)"),
        "availability": (value("availability", "attr(href)") or "").rpartition("/")[2],
        "rating": Decimal(rating) if rating else None,
        "reviews": int(reviews) if reviews else None,
    }


def as_numbers(row: Row) -> Row:
    """A row of the truth with its amounts as numbers, to compare by value."""
    names = ("price", "regular_price", "rating", "previous_close", "change", "percent")
    return {
        name: Decimal(value) if name in names and value is not None else value
        for name, value in row.items()
    }


def figure(text: str, *, comma: bool) -> Decimal | None:
    """A number with any sign, percent sign and magnitude; None where there is none."""
    if text == "—":
        return None
    power = MAGNITUDES.get(text[-1], 0)
    size = amount(text, comma=comma).scaleb(power)
    return -size if text[0] in f"{MINUS_SIGNS}(" else size


def moment(text: str) -> str:
    """A time with the name of its zone, in UTC."""
    clock, _, zone = text.rpartition(" ")
    local = datetime.strptime(clock, TIMES[zone]).replace(
        tzinfo=timezone(timedelta(hours=ZONES[zone]))
    )
    return local.astimezone(UTC).isoformat()


def read_quote(body: bytes) -> Row:
    """The values of a quote page."""
    page = Selector(body.decode())
    market = page.css("p a::text").get("")
    comma = market == "Continental 100"

    def text(name: str) -> str:
        return str(page.css(f".quote-{name}::text").get()).strip()

    return {
        "ticker": text("ticker"),
        "name": page.css("h1::text").get(),
        "market": market,
        "currency": text("currency"),
        "price": figure(text("price"), comma=comma),
        "previous_close": figure(text("previous"), comma=comma),
        "change": figure(text("change"), comma=comma),
        "percent": figure(text("percent"), comma=comma),
        "volume": figure(text("volume"), comma=comma),
        "market_cap": figure(text("cap"), comma=comma),
        "time": moment(text("time")),
    }


def read_quote_json(body: bytes) -> Row:
    """The values of the exchange's JSON."""
    data = json.loads(body, parse_float=Decimal)
    quote = data["quote"]
    return {
        "ticker": data["symbol"],
        "name": data["name"],
        "market": data["market"],
        "currency": quote["currency"],
        "price": quote["last"],
        "previous_close": quote["previousClose"],
        "change": quote["change"],
        "percent": quote["changePercent"],
        "volume": quote["volume"],
        "market_cap": quote["marketCap"],
        "time": quote["asOf"],
    }


def read_table(body: bytes) -> list[Row]:
    """The rows of a market's table."""
    page = Selector(body.decode())
    comma = page.css("h1::text").get() == "Continental 100"
    rows = []
    for line in page.css("table.quotes tbody tr"):
        cells = [cell.xpath("string()").get("") for cell in line.css("td")]
        names = ("price", "change", "percent", "volume", "market_cap")
        figures = (figure(cell, comma=comma) for cell in (cells[2], *cells[4:]))
        row = dict(zip(names, figures, strict=True))
        rows.append({"ticker": cells[0], "name": cells[1], "currency": cells[3], **row})
    return rows


def links(body: bytes, css: str) -> list[str]:
    """The addresses of the links that a selector finds."""
    return Selector(body.decode()).css(f"{css}::attr(href)").getall()


def _availability(text: str) -> str:
    return next(
        kind for kind, pattern in WORDINGS.items() if re.search(pattern, text, re.IGNORECASE)
    )
