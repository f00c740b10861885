"""The exchange's host: from a path to its answer, every path that links lead to, and the truth.

/                         the markets
/markets/<slug>/[?page=2] a market's table, page by page
/quote/<ticker>           a quote; of one market, an empty page that names its JSON
/api/quotes/<ticker>      that JSON
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from skitter.lab.answer import Answer
from skitter.lab.exchange import pages
from skitter.lab.exchange.quotes import Quotes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skitter.lab.demo_spec import ExchangeSpec
    from skitter.lab.dice import Dice
    from skitter.lab.exchange.market import Market
    from skitter.lab.wire import Request


class Exchange:
    """The exchange."""

    disallow: tuple[str, ...] = ()

    def __init__(self, spec: ExchangeSpec, dice: Dice) -> None:
        self.host = spec.host
        self.delay_ms = spec.delay_ms
        self.concurrency = spec.concurrency
        self.entries = spec.tickers
        self._quotes = Quotes(spec, dice)
        self._markets = {market.path: market for market in self._quotes.markets}

    def entry(self, number: int) -> str:
        """The path of a page of the sitemap."""
        return self._quotes.quote(number, version=0).path

    def answer(self, request: Request, *, origin: str, version: int) -> Answer | None:
        """The answer at a version, or None where nothing is."""
        del origin  # nothing here names a whole URL
        path = request.path
        if path == "/":
            return _html(pages.home(self._quotes.markets))
        if path in self._markets:
            return self._table(self._markets[path], request, version=version)
        if path.startswith("/quote/"):
            return self._quote(path.removeprefix("/quote/"), version=version)
        if path.startswith("/api/quotes/"):
            return self._json(path.removeprefix("/api/quotes/"), version=version)
        return None

    def paths(self) -> Iterator[str]:
        """Every path that links lead to."""
        yield "/"
        for market in self._quotes.markets:
            for page in range(1, self._quotes.pages(market) + 1):
                yield pages.page_path(market, page)
        yield from map(self.entry, range(self.entries))

    def truth(self, version: int) -> Iterator[dict[str, Any]]:
        """Every quote's exact values at a version."""
        for number in range(self.entries):
            quote = self._quotes.quote(number, version=version)
            yield quote.truth(host=self.host, version=version)

    def _table(self, market: Market, request: Request, *, version: int) -> Answer | None:
        given = parse_qs(request.query).get("page", ["1"])[0]
        page = int(given) if given.isascii() and given.isdigit() and len(given) < 12 else 0
        last = self._quotes.pages(market)
        if not 1 <= page <= last:
            return None
        quotes = self._quotes.page(market, page, version=version)
        return _html(pages.table(market, quotes, page=page, pages=last))

    def _quote(self, ticker: str, *, version: int) -> Answer | None:
        quote = self._quotes.find(ticker, version=version)
        if quote is None:
            return None
        return _html(pages.quote_shell(quote) if quote.market.json else pages.quote_page(quote))

    def _json(self, ticker: str, *, version: int) -> Answer | None:
        quote = self._quotes.find(ticker, version=version)
        if quote is None or not quote.market.json:
            return None
        return Answer(body=pages.quote_json(quote), content_type="application/json")


def _html(page: str) -> Answer:
    return Answer(body=page.encode())
