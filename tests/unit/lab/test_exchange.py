from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from skitter.lab import ExchangeSpec, Web, WebSpec
from skitter.lab.site import Site
from tests.unit.lab.readers import (
    MINUS_SIGNS,
    Row,
    as_numbers,
    links,
    read_quote,
    read_quote_json,
    read_table,
)
from tests.unit.lab.test_shop import ask

if TYPE_CHECKING:
    from skitter.lab.answer import Answer

ORIGIN = "http://exchange.lab"
CHANGING = {"time", "price", "previous_close", "change", "percent", "volume"}


def make(version: int = 0, **exchange: Any) -> Site:
    return Site(Web(WebSpec(exchange=ExchangeSpec(**exchange), version=version)))


def truth(site: Site, version: int = 0) -> list[Row]:
    return [as_numbers(row) for row in site.web.demos.exchange_truth(version)]


def tables(site: Site) -> list[Answer]:
    """Every page of every table, by following the markets' links and `next`."""
    found, ahead = [], links(ask(site, f"{ORIGIN}/").body, ".markets a")
    while ahead:
        page = ask(site, ORIGIN + ahead.pop())
        assert page.status == 200
        found.append(page)
        ahead += links(page.body, "a[rel=next]")
    return found


@pytest.mark.parametrize("version", [0, 7])
def test_every_quote_page_shows_what_the_truth_says(version: int) -> None:
    site = make(version, tickers=400)
    rows = truth(site, version)
    for row in rows:
        page = ask(site, row["url"]).body
        shown = read_quote_json(ask(site, row["api_url"]).body) if row["api_url"] else None
        shown = shown or read_quote(page)
        assert shown == {name: row[name] for name in shown}
    assert Counter(row["market"] for row in rows).most_common()[-1][1] == 80
    assert {row["currency"] for row in rows} == {"USD", "EUR", "GBP", "JPY", "CHF"}
    assert {row["change"] < 0 for row in rows} == {True, False}
    assert any(row["market_cap"] is None for row in rows)


def test_a_page_that_json_fills_has_no_figures_and_names_its_endpoint() -> None:
    site = make()
    row = next(row for row in truth(site) if row["api_url"])
    body = ask(site, row["url"]).body
    assert links(body, 'link[type="application/json"]') == [row["api_url"].removeprefix(ORIGIN)]
    assert str(row["price"]) not in body.decode()
    plain = next(row for row in truth(site) if not row["api_url"])
    assert ask(site, f"{ORIGIN}/api/quotes/{plain['ticker']}").status == 404


@pytest.mark.parametrize("tickers", [1, 3, 77, 203])
def test_tables_list_every_ticker_once_with_the_values_of_the_truth(tickers: int) -> None:
    site = make(tickers=tickers, per_page=6)
    shown = [row for page in tables(site) for row in read_table(page.body)]
    known = {row["ticker"]: row for row in truth(site)}
    assert Counter(row["ticker"] for row in shown) == dict.fromkeys(known, 1)
    for row in shown:
        assert row == {name: known[row["ticker"]][name] for name in row}


def test_signs_suffixes_and_gaps_of_every_kind_are_there() -> None:
    text = "".join(page.body.decode() for page in tables(make(tickers=600)))
    assert all(f"<td>{sign}" in text for sign in [*MINUS_SIGNS, "(", "+", "—"])
    assert all(f"{suffix}</td>" in text for suffix in "KMBT")


def test_links_of_tables_lead_to_quotes() -> None:
    site = make(tickers=50)
    for page in tables(site):
        for path in links(page.body, "td a"):
            assert ask(site, ORIGIN + path).status == 200


def test_a_version_changes_its_share_of_quotes_and_no_other() -> None:
    site = make(tickers=1000, quote_changes=0.3)
    for version in range(1, 6):
        before, after = truth(site, version - 1), truth(site, version)
        pairs = list(zip(before, after, strict=True))
        changed = [new for old, new in pairs if new["time"] != old["time"]]
        assert 250 < len(changed) < 350
        for old, new in pairs:
            differing = {name for name in old if old[name] != new[name]} - {"version"}
            assert differing <= CHANGING
            assert not differing or "time" in differing
            assert not differing or new["previous_close"] == old["price"]


def test_a_version_changes_pages_as_it_changes_the_truth() -> None:
    site = make(tickers=100, quote_changes=0.3)
    for old, new in zip(truth(site, 2), truth(site, 3), strict=True):
        address = new["api_url"] or new["url"]
        site.version = 2
        before = ask(site, address).body
        site.version = 3
        changed = ask(site, address).body != before
        assert changed == (old | {"version": 3} != new)


@pytest.mark.parametrize(
    "path", ["/markets/none/", "/markets/northam/?page=9", "/quote/BBB.L", "/quote/bbb", "/quote/",
             "/quote/BBBB", "/quote/ZZZ", "/api/quotes/", "/api/quotes/BBB", "/p/1"],
)  # fmt: skip
def test_where_nothing_is_there_is_a_404(path: str) -> None:
    assert ask(make(), ORIGIN + path).status == 404
