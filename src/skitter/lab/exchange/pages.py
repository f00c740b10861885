"""The exchange's HTML and JSON: markets, tables, quotes, and the shell that JSON fills."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING

from skitter.lab.exchange.market import signed

if TYPE_CHECKING:
    from collections.abc import Iterable
    from decimal import Decimal

    from skitter.lab.exchange.market import Market
    from skitter.lab.exchange.quotes import Quote

_COLUMNS = ("Ticker", "Name", "Last", "Currency", "Change", "Change %", "Volume", "Market cap")


def home(markets: Iterable[Market]) -> str:
    """All markets."""
    links = "".join(
        f'<li><a href="{market.path}">{escape(market.name)}</a></li>\n' for market in markets
    )
    return _frame("Markets", f'<ul class="markets">\n{links}</ul>\n')


def table(market: Market, quotes: Iterable[Quote], *, page: int, pages: int) -> str:
    """A page of a market's table."""
    head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
    rows = "".join(map(_row, quotes))
    body = (
        f'<table class="quotes">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table>\n'
        f'<nav class="pagination">{_pagination(market, page=page, pages=pages)}</nav>\n'
    )
    return _frame(market.name, body)


def page_path(market: Market, page: int) -> str:
    """The path of a page of a market's table."""
    return f"{market.path}?page={page}" if page > 1 else market.path


def quote_page(quote: Quote) -> str:
    """A quote's own page."""
    market = quote.market
    facts = (
        ("Previous close", "quote-previous", market.number(quote.previous)),
        ("Volume", "quote-volume", market.long(quote.volume)),
        ("Market cap", "quote-cap", market.short(quote.market_cap)),
    )
    lines = "".join(
        f'<dt>{name}</dt><dd class="{kind}">{text}</dd>\n' for name, kind, text in facts
    )
    body = (
        f'<p><a href="{market.path}">{escape(market.name)}</a> '
        f'<span class="quote-ticker">{quote.ticker}</span></p>\n'
        f'<p><span class="quote-price">{market.number(quote.price)}</span> '
        f'<span class="quote-currency">{quote.currency}</span>\n'
        f'<span class="quote-change">{_change(quote)}</span> '
        f'<span class="quote-percent">{_percent(quote)}</span></p>\n'
        f"<dl>\n{lines}</dl>\n"
        f'<p class="quote-time">{market.moment(quote.time)}</p>\n'
    )
    return _frame(quote.name, body)


def quote_shell(quote: Quote) -> str:
    """The page of a quote whose figures come as JSON: the endpoint's address and no figure."""
    path = quote.api_path
    head = f'<link rel="alternate" type="application/json" href="{path}">\n'
    return _frame(quote.name, f'<div id="app" data-source="{path}">Loading…</div>\n', head=head)


def quote_json(quote: Quote) -> bytes:
    """What the endpoint answers."""
    value = {
        "symbol": quote.ticker,
        "name": quote.name,
        "market": quote.market.name,
        "quote": {
            "last": float(quote.price),
            "previousClose": float(quote.previous),
            "change": float(quote.change),
            "changePercent": float(quote.percent),
            "volume": quote.volume,
            "marketCap": quote.market_cap,
            "currency": quote.currency,
            "asOf": quote.time.isoformat(),
        },
    }
    return json.dumps(value).encode()


def _row(quote: Quote) -> str:
    market = quote.market
    cells = (
        f'<a href="{quote.path}">{quote.ticker}</a>',
        escape(quote.name),
        market.number(quote.price),
        quote.currency,
        _change(quote),
        _percent(quote),
        market.short(quote.volume),
        market.short(quote.market_cap),
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>\n"


def _change(quote: Quote) -> str:
    return _signed(quote, quote.change, quote.market.number(quote.change))


def _percent(quote: Quote) -> str:
    return _signed(quote, quote.percent, quote.market.percentage(quote.percent))


def _signed(quote: Quote, value: Decimal, text: str) -> str:
    return signed(value, text, minus=quote.minus, plus=quote.plus)


def _pagination(market: Market, *, page: int, pages: int) -> str:
    links = []
    if page > 1:
        links.append(f'<a rel="prev" href="{page_path(market, page - 1)}">Previous</a>')
    if page < pages:
        links.append(f'<a rel="next" href="{page_path(market, page + 1)}">Next</a>')
    return " ".join(links)


def _frame(title: str, body: str, *, head: str = "") -> str:
    name = escape(title)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f"<title>{name}</title>\n{head}</head>\n<body>\n"
        f'<header><a href="/">Markets</a></header>\n<h1>{name}</h1>\n{body}</body></html>\n'
    )
