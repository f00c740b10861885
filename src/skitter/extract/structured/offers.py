"""Price, currency and availability from a product's offers.

schema.org writes numbers as machines do; what is not written so is read as the source declares.
Offers that differ in price, or a range, give no price but a lowest and a highest one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from skitter.extract.cleaned import Cleaned, Refused
from skitter.extract.currencies import codes, resolve_currency
from skitter.extract.fields import Field, Fields
from skitter.extract.locale import Locale
from skitter.extract.price import Price, clean_price
from skitter.extract.stock import clean_stock
from skitter.extract.structured.nodes import Node, References, first_text, listed

MOST_OFFERS = 500
_PLAIN = re.compile(r"\d{1,15}(?:\.\d{1,10})?")


def offer_fields(
    product: Node, references: References, *, origin: str, locale: Locale, base: str
) -> Fields:
    """The fields that a product's offers give."""
    offers = _offers(product, references)
    here = [offer for offer in offers if base and first_text(offer, "url") == base]
    offers = here if len(here) == 1 else offers
    where = f"{origin} offers"
    prices = [price for offer in offers for price in _prices(offer, references, locale)]
    return _price(prices, where) | _availability(offers, where)


def machine_amount(text: str, locale: Locale) -> Cleaned[Price] | Refused:
    """An amount in a machine's form, or else in the source's."""
    if _PLAIN.fullmatch(text.strip()):
        return Cleaned(Price(Decimal(text.strip())), text)
    return clean_price(text, locale)


def _offers(product: Node, references: References) -> list[Node]:
    """The single offers. Those inside an aggregate count if there are any."""
    variants = [references.resolve(one) for one in listed(product.get("hasVariant"))]
    holders = [product, *(one for one in variants if isinstance(one, dict))]
    found: list[Node] = []
    for holder in holders[:MOST_OFFERS]:
        for value in listed(holder.get("offers"))[:MOST_OFFERS]:
            offer = references.resolve(value)
            if not isinstance(offer, dict):
                continue
            inner = [one for one in listed(offer.get("offers")) if isinstance(one, dict)]
            found.extend(inner if inner and not offer.get("lowPrice") else [offer])
    if not found and (product.get("price") or product.get("availability")):
        found.append(product)
    return found[:MOST_OFFERS]


def _prices(offer: Node, references: References, locale: Locale) -> list[Cleaned[Price] | Refused]:
    specified = [references.resolve(one) for one in listed(offer.get("priceSpecification"))]
    currency = first_text(offer, "priceCurrency") or next(
        (first_text(one, "priceCurrency") for one in specified if isinstance(one, dict)), ""
    )
    texts = [first_text(offer, "price")]
    if not texts[0]:
        texts = [first_text(offer, "lowPrice"), first_text(offer, "highPrice")]
    if not any(texts):
        texts = [first_text(one, "price") for one in specified[:1] if isinstance(one, dict)]
    return [_with_currency(text, currency, locale) for text in texts if text]


def _with_currency(text: str, currency: str, locale: Locale) -> Cleaned[Price] | Refused:
    result = machine_amount(text, locale)
    if isinstance(result, Refused):
        return result
    mark = currency.strip() or result.value.currency_raw
    code = mark.upper() if mark.upper() in codes() else resolve_currency(mark, locale.currency)
    return Cleaned(Price(result.value.amount, code, mark), result.raw)


def _price(prices: Sequence[Cleaned[Price] | Refused], where: str) -> Fields:
    good = [price for price in prices if isinstance(price, Cleaned)]
    refused = next((price for price in prices if isinstance(price, Refused)), None)
    if not good:
        return {"price": Field(None, refused.raw, where, refused.reason)} if refused else {}
    currencies = {(price.value.currency, price.value.currency_raw) for price in good}
    if len({code for code, _ in currencies}) > 1:
        reason = "its offers are in several currencies"
        return {"price": Field(None, _raws(good), where, reason)}
    code, raw = min(currencies)
    found: Fields = {}
    if code:
        found["currency"] = Field(code, raw, where)
    if raw:
        found["currency_raw"] = Field(raw, raw, where)
    return _amounts(good, where) | found


def _amounts(prices: Sequence[Cleaned[Price]], where: str) -> Fields:
    low = min(prices, key=lambda price: price.value.amount)
    high = max(prices, key=lambda price: price.value.amount)
    if low.value.amount == high.value.amount:
        return {"price": Field(low.value.amount, low.raw, where)}
    reason = f"it has offers from {low.raw} to {high.raw}"
    return {
        "price": Field(None, _raws(prices), where, reason),
        "low_price": Field(low.value.amount, low.raw, where),
        "high_price": Field(high.value.amount, high.raw, where),
    }


def _raws(prices: Sequence[Cleaned[Price]]) -> str:
    return " ".join(price.raw for price in prices[:20])


def _availability(offers: Sequence[Node], where: str) -> Fields:
    """In stock if any offer is; otherwise what they agree on."""
    texts = [text for offer in offers if (text := first_text(offer, "availability"))]
    results = [clean_stock(text) for text in texts]
    states = {one.value.state: one.raw for one in results if isinstance(one, Cleaned)}
    if "in_stock" in states or len(states) == 1:
        state = "in_stock" if "in_stock" in states else next(iter(states))
        return {"stock": Field(state, states[state], where)}
    if states:
        return {"stock": Field(None, " ".join(texts[:20]), where, "its offers do not agree")}
    refused = next((one for one in results if isinstance(one, Refused)), None)
    return {"stock": Field(None, refused.raw, where, refused.reason)} if refused else {}
