"""Stock, ratings, texts, URLs and moments in seconds."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from skitter.extract.cleaned import LONGEST, Cleaned, Refused
from skitter.extract.dates import clean_epoch
from skitter.extract.price import clean_price
from skitter.extract.rating import Rating, clean_rating
from skitter.extract.stock import Stock, clean_stock
from skitter.extract.text import clean_text
from skitter.extract.urls import clean_url


@pytest.mark.parametrize(
    ("raw", "state", "quantity"),
    [
        ("InStock", "in_stock", None),
        ("https://schema.org/InStock", "in_stock", None),
        ("http://schema.org/OutOfStock", "out_of_stock", None),
        ("https://schema.org/PreOrder", "preorder", None),
        ("out_of_stock", "out_of_stock", None),
        ("En stock", "in_stock", None),
        ("Rupture de stock", "out_of_stock", None),
        ("Available for pre-order", "preorder", None),
        ("Disponible en précommande", "preorder", None),
        ("Available to order", "backorder", None),
        ("On back order", "backorder", None),
        ("Available on backorder", "backorder", None),
        ("Disponible sur commande", "backorder", None),
        ("Wird für Sie bestellt", "backorder", None),
        ("Ready to ship", "in_stock", None),
        ("Indisponible", "out_of_stock", None),
        ("Épuisé", "out_of_stock", None),
        ("Sur commande", "backorder", None),
        ("En arrivage", "backorder", None),
        ("Plus que 2 en stock", "in_stock", 2),
        ("Only 3 left", "in_stock", 3),
        ("12 in stock", "in_stock", 12),
        ("0 en stock", "out_of_stock", 0),
        ("10+ in stock", "in_stock", None),
        ("More than 10 available", "in_stock", None),
        ("Available from 3 June", "in_stock", None),
        ("In stock, ships in 3 days", "in_stock", None),
        ("Available on order", "backorder", None),
        ("Currently unavailable", "out_of_stock", None),
        ("nicht auf Lager", "out_of_stock", None),
        ("Auf Lager", "in_stock", None),
        ("Agotado", "out_of_stock", None),
        ("Esgotado", "out_of_stock", None),
        ("нет в наличии", "out_of_stock", None),
        ("в наличии: 5 шт.", "in_stock", 5),
        ("在庫あり", "in_stock", None),
        ("在庫切れ", "out_of_stock", None),
        ("残り3点", "in_stock", 3),
        ("有货", "in_stock", None),
        ("품절", "out_of_stock", None),
        ("متوفر", "in_stock", None),
        ("غير متوفر", "out_of_stock", None),
        ("Stokta yok", "out_of_stock", None),
        ("Plus commercialisé", "discontinued", None),
    ],
)
def test_stock(raw: str, state: str, quantity: int | None) -> None:
    result = clean_stock(raw)
    assert isinstance(result, Cleaned), result
    assert (result.value.state, result.value.quantity, result.raw) == (state, quantity, raw)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("In stock online, out of stock in store", "both yes and no"),
        ("Delivery to your door", "neither yes nor no"),
        ("5", "neither yes nor no"),
        ("", "empty"),
    ],
)
def test_stock_that_is_not_told(raw: str, reason: str) -> None:
    result = clean_stock(raw)
    assert isinstance(result, Refused)
    assert reason in result.reason


def test_only_what_is_in_stock_is_available() -> None:
    assert Stock("in_stock").available
    assert not Stock("backorder").available


@pytest.mark.parametrize(
    ("raw", "value", "best"),
    [
        ("4,5 / 5", "4.5", "5"),
        ("4.5 out of 5 stars", "4.5", "5"),
        ("4,5 étoiles sur 5", "4.5", "5"),
        ("8.7/10", "8.7", "10"),
        ("★★★★☆", "4", "5"),
        ("4.25", "4.25", None),
        ("4.125", "4.125", None),
    ],
)
def test_rating(raw: str, value: str, best: str | None) -> None:
    expected = Rating(Decimal(value), Decimal(best) if best else None)
    assert clean_rating(raw).value == expected


@pytest.mark.parametrize("raw", ["7/5", "Note : 4,2 (35 avis)", "no reviews yet"])
def test_rating_that_is_none(raw: str) -> None:
    assert isinstance(clean_rating(raw), Refused)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("  a \u00a0 b\n\tc ", "a b c"),
        ("CafÃ© crÃ¨me", "Café crème"),
        ("Ð\x9fÑ\x80Ð°Ð²Ð°", "Права"),
        ("Tom &amp; Jerry &#233;", "Tom & Jerry é"),
        ("AT&T and R&D", "AT&T and R&D"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("Âge d'or à Évreux", "Âge d'or à Évreux"),
        ("Größe ÄÖÜ", "Größe ÄÖÜ"),
        ("nul\0l", "null"),
    ],
)
def test_text(raw: str, value: str) -> None:
    assert clean_text(raw) == Cleaned(value, raw)


def test_text_keeps_its_lines_when_told() -> None:
    assert clean_text(" a \r\n\r\n b  c\u2028d ", lines=True).value == "a\nb c\nd"


def test_text_with_nothing_in_it_is_refused() -> None:
    assert clean_text(" \u200b\u00a0 ") == Refused(" \u200b\u00a0 ", "it is empty")


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("/a b?x=é#frag", "https://x.example/a%20b?x=%C3%A9"),
        ("//cdn.example/y.jpg", "https://cdn.example/y.jpg"),
        ("../z", "https://x.example/z"),
        ("?page=2", "https://x.example/d/e?page=2"),
        (" \n/with/\nbreaks ", "https://x.example/with/breaks"),
        ("HTTP://Y.example/", "http://y.example/"),
    ],
)
def test_url(raw: str, value: str) -> None:
    assert clean_url(raw, "https://x.example/d/e").value == value


@pytest.mark.parametrize(
    "raw", ["", "#top", "javascript:void(0)", "mailto:a@b", "http://[", "data:x", "http://x:99999/"]
)
def test_url_that_leads_nowhere(raw: str) -> None:
    assert isinstance(clean_url(raw, "https://x.example/"), Refused)


def test_a_relative_url_needs_a_base() -> None:
    assert isinstance(clean_url("p.html"), Refused)


def test_epoch() -> None:
    moment = datetime(2024, 5, 3, 10, tzinfo=UTC)
    assert clean_epoch("1714730400").value == moment
    assert clean_epoch("1714730400000", unit_ms=True).value == moment
    assert isinstance(clean_epoch("1714730400000"), Refused)
    assert isinstance(clean_epoch("soon"), Refused)


def test_what_is_too_long_is_refused_and_cut() -> None:
    result = clean_price("1" * (LONGEST + 1))
    assert isinstance(result, Refused)
    assert len(result.raw) == LONGEST
