"""Product fields from structured data: JSON-LD first, then microdata, then OpenGraph.

A later source only fills what an earlier one left open; price and currency come from the same
one. Where a page holds several products, the one it is about is that with the page's address.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from skitter.extract.cleaned import Cleaned, Refused
from skitter.extract.fields import Field, Fields, field_of, fill
from skitter.extract.locale import MACHINE, UNDECLARED, Locale
from skitter.extract.rating import clean_rating
from skitter.extract.structured.nodes import Node, References, first_text, listed, text_of, types
from skitter.extract.structured.offers import offer_fields
from skitter.extract.structured.reading import Structured
from skitter.extract.text import clean_text
from skitter.extract.urls import clean_url

KINDS = frozenset(
    [
        "Product",
        "ProductGroup",
        "IndividualProduct",
        "ProductModel",
        "SomeProducts",
        "Vehicle",
        "Car",
        "Book",
    ]
)
_TEXTS = {
    "name": ("name",),
    "sku": ("sku", "productID", "productId"),
    "gtin": ("gtin", "gtin13", "gtin12", "gtin14", "gtin8", "isbn"),
    "mpn": ("mpn",),
    "brand": ("brand", "manufacturer"),
    "description": ("description",),
}
_PRICES = ("price", "currency", "currency_raw", "low_price", "high_price")
_MOST_IMAGES = 100


def main_product(data: Structured, locale: Locale = UNDECLARED, *, url: str = "") -> Fields:
    """The product that a page is about; empty if it says nothing of one."""
    url = url or data.base
    found: Fields = {}
    sources: list[tuple[str, Callable[[], Sequence[Node]], References]] = [
        ("json-ld", lambda: data.json_ld, data.references),
        ("microdata", lambda: data.microdata, References(())),
    ]
    for origin, nodes, references in sources:
        node = the_one(_products(nodes()), url)
        if node is not None:
            _merge(found, _fields(node, references, origin, locale, data.base))
    _merge(found, _of_open_graph(data, locale))
    if found and "category" not in found:
        name = str(found.get("name", Field(None)).value)
        fill(found, _breadcrumb(data, name=name, url=url))
    return found


def all_products(data: Structured, locale: Locale = UNDECLARED) -> list[Fields]:
    """Every product of a listing, from JSON-LD or else from microdata."""
    for origin, nodes, references in (
        ("json-ld", data.json_ld, data.references),
        ("microdata", data.microdata, References(())),
    ):
        products = _products(nodes)
        if products:
            return [_fields(node, references, origin, locale, data.base) for node in products]
    return []


def the_one(nodes: Sequence[Node], url: str) -> Node | None:
    """The node that a page is about: the only one, or the one that has its address."""
    if len(nodes) < 2:
        return nodes[0] if nodes else None
    here = [node for node in nodes if _is_here(node, url)]
    return here[0] if here and len({first_text(node, "name") for node in here}) == 1 else None


def _is_here(node: Node, url: str) -> bool:
    addresses = [text_of(node.get(name)) for name in ("url", "@id", "mainEntityOfPage")]
    mine = urlsplit(url)
    return any(
        (parts := urlsplit(address)).path == mine.path and parts.query in ("", mine.query)
        for address in addresses
        if address and not address.startswith("#")
    )


def _products(nodes: Sequence[Node]) -> list[Node]:
    """Products that are not inside another one."""
    found: list[Node] = []
    inside: set[int] = set()
    for node in nodes:
        if id(node) in inside or not types(node) & KINDS:
            continue
        found.append(node)
        inside |= {id(part) for name in ("hasVariant", "offers") for part in _below(node.get(name))}
    return found


def _below(value: object) -> list[Node]:
    """The nodes of a property, and those that offers lead back to."""
    found: list[Node] = [part for part in listed(value) if isinstance(part, dict)]
    return found + [
        part for one in found for part in listed(one.get("itemOffered")) if isinstance(part, dict)
    ]


def _merge(found: Fields, more: Fields) -> None:
    """Fill what is open, but never one source's price with another's currency."""
    if found.get("price", Field(None)).value is not None:
        more = {name: one for name, one in more.items() if name not in _PRICES}
    elif more.get("price", Field(None)).value is not None:
        for name in _PRICES:
            found.pop(name, None)
    fill(found, more)


def _fields(node: Node, references: References, origin: str, locale: Locale, base: str) -> Fields:
    found: Fields = {}
    for name, properties in _TEXTS.items():
        values = [references.resolve(node.get(one)) for one in properties]
        text = next((text for value in values if (text := text_of(value))), "")
        if text:
            found[name] = field_of(clean_text(text), f"{origin} {properties[0]}")
    found |= _category(node, origin) | _addresses(node, origin, base)
    found |= _rating(references.resolve(node.get("aggregateRating")), origin)
    found |= offer_fields(node, references, origin=origin, locale=locale, base=base)
    return found


def _category(node: Node, origin: str) -> Fields:
    names = [text_of(value) for value in listed(node.get("category"))]
    text = " > ".join(name for name in names if name)
    return {"category": field_of(clean_text(text), f"{origin} category")} if text else {}


def _addresses(node: Node, origin: str, base: str) -> Fields:
    found: Fields = {}
    if text := text_of(node.get("url")):
        found["url"] = field_of(clean_url(text, base), f"{origin} url")
    raw = [_image(value) for value in listed(node.get("image"))[:_MOST_IMAGES]]
    images = [clean_url(text, base) for text in raw if text]
    good = list(dict.fromkeys(one.value for one in images if isinstance(one, Cleaned)))
    if good:
        found["images"] = Field(good, " ".join(one.raw for one in images), f"{origin} image")
    return found


def _image(value: object) -> str:
    if isinstance(value, dict):
        return first_text(value, "contentUrl", "url", "@id")
    return text_of(value)


def _rating(value: object, origin: str) -> Fields:
    node = next((one for one in listed(value) if isinstance(one, dict)), None)
    if node is None:
        return {}
    found: Fields = {}
    rating = clean_rating(first_text(node, "ratingValue"), MACHINE)
    if isinstance(rating, Refused):
        rating = clean_rating(first_text(node, "ratingValue"))
    where = f"{origin} aggregateRating"
    value = rating.value.value if isinstance(rating, Cleaned) else None
    reason = rating.reason if isinstance(rating, Refused) else ""
    found["rating"] = Field(value, rating.raw, where, reason)
    for name, properties in {
        "rating_best": ("bestRating",),
        "rating_count": ("reviewCount", "ratingCount"),
    }.items():
        text = first_text(node, *properties)
        if text.isdigit():
            found[name] = Field(int(text), text, where)
    return found


def _of_open_graph(data: Structured, locale: Locale) -> Fields:
    graph = {name: values[0] for name, values in data.open_graph.items()}
    price = graph.get("product:price:amount") or graph.get("og:price:amount")
    if not price and not graph.get("og:type", "").lower().endswith("product"):
        return {}
    node = {
        "name": graph.get("og:title"),
        "description": graph.get("og:description"),
        "brand": graph.get("product:brand") or graph.get("og:brand"),
        "category": graph.get("product:category"),
        "sku": graph.get("product:retailer_item_id"),
        "url": graph.get("og:url"),
        "image": data.open_graph.get("og:image"),
        "offers": {
            "price": price,
            "priceCurrency": graph.get("product:price:currency") or graph.get("og:price:currency"),
            "availability": graph.get("product:availability") or graph.get("og:availability"),
        },
    }
    return _fields(node, References(()), "opengraph", locale, data.base)


def _breadcrumb(data: Structured, *, name: str, url: str) -> Fields:
    """The way to the product, without the page itself, where breadcrumbs tell it."""
    for origin, nodes in (("json-ld", data.json_ld), ("microdata", data.microdata)):
        for node in nodes:
            if "BreadcrumbList" in types(node):
                text = " > ".join(_steps(node, name=name, url=url))
                if text:
                    return {"category": field_of(clean_text(text), f"{origin} BreadcrumbList")}
    return {}


def _steps(node: Node, *, name: str, url: str) -> list[str]:
    """The names of the steps. The last is the page itself, unless it leads elsewhere."""
    parts = [part for part in listed(node.get("itemListElement")) if isinstance(part, dict)]
    names = [(first_text(part, "name") or text_of(part.get("item"))).strip() for part in parts]
    if parts and (names[-1] == name or not _leads_elsewhere(parts[-1], url)):
        names.pop()
    return [one for one in names if one]


def _leads_elsewhere(part: Node, url: str) -> bool:
    item = part.get("item")
    address = first_text(item, "@id", "url") if isinstance(item, dict) else text_of(item)
    return "/" in address and urlsplit(address).path != urlsplit(url).path
