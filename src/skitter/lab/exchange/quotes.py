"""What a quote is: lasting facts from the seed, figures from the seed and the version.

Quote n belongs to market n modulo the number of markets. Volumes and market caps have no more
digits than their short form shows, so that every page tells the exact value.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from skitter.lab.exchange.market import MINUSES, PLUSES, Market, load_markets
from skitter.lab.figures import between, edition, pick

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from skitter.lab.demo_spec import ExchangeSpec
    from skitter.lab.dice import Dice

_FIRST_TIME = datetime(2026, 7, 1, 13, 30, tzinfo=UTC)
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
_NAMES = ("Alder", "Bexley", "Corvane", "Durness", "Elmira", "Fenwick", "Garrow", "Hallam", "Iskra")
_TRADES = ("Foods", "Steel", "Energy", "Air & Sea", "Media", "Bank", "Labs", "Rail", "Pharma")
_LOWEST, _HIGHEST = 0.5, 5000


@dataclass(frozen=True, slots=True)
class Quote:
    """A ticker's figures at a version."""

    number: int
    ticker: str
    name: str
    market: Market
    currency: str
    price: Decimal
    previous: Decimal
    change: Decimal
    percent: Decimal
    volume: int | None
    market_cap: int | None
    time: datetime
    minus: str
    plus: str

    @property
    def path(self) -> str:
        return f"/quote/{self.ticker}"

    @property
    def api_path(self) -> str:
        return f"/api/quotes/{self.ticker}"

    def truth(self, *, host: str, version: int) -> dict[str, Any]:
        """The quote as plain values; decimals as text, the time in UTC."""
        origin = f"http://{host}"
        return {
            "version": version,
            "host": host,
            "url": f"{origin}{self.path}",
            "api_url": f"{origin}{self.api_path}" if self.market.json else None,
            "ticker": self.ticker,
            "name": self.name,
            "market": self.market.name,
            "currency": self.currency,
            "price": str(self.price),
            "previous_close": str(self.previous),
            "change": str(self.change),
            "percent": str(self.percent),
            "volume": self.volume,
            "market_cap": self.market_cap,
            "time": self.time.isoformat(),
        }


class Quotes:
    """All quotes of the exchange."""

    def __init__(self, spec: ExchangeSpec, dice: Dice) -> None:
        self.markets = load_markets()[: spec.tickers]
        self._spec = spec
        self._dice = dice

    def quote(self, number: int, *, version: int) -> Quote:
        """A quote by its number, from 0."""
        roll = self._dice.stream("quote", number)
        market = self.markets[number % len(self.markets)]
        base = market.scale * _LOWEST * (_HIGHEST / _LOWEST) ** roll.random()
        units = max(100, int(base * 10**market.places))
        times = edition(version, share=self._spec.quote_changes, phase=roll.random())
        return Quote(
            number=number,
            ticker=f"{_ticker(number)}{market.suffix}",
            name=f"{pick(roll, _NAMES)} {pick(roll, _TRADES)} {number + 1}",
            market=market,
            currency=pick(roll, market.currencies),
            minus=pick(roll, MINUSES),
            plus=pick(roll, PLUSES),
            market_cap=_large(roll, (10**6, 10**9, 10**12)) if roll.random() < 0.9 else None,
            volume=self._volume(number, times),
            time=_FIRST_TIME + timedelta(minutes=between(roll, 0, 59) + times),
            **self._prices(number, market, units=units, times=times),
        )

    def find(self, ticker: str, *, version: int) -> Quote | None:
        """The quote of a ticker, or None if there is none."""
        number = _ticker_number(ticker.partition(".")[0].partition("-")[0])
        if number is None or number >= self._spec.tickers:
            return None
        quote = self.quote(number, version=version)
        return quote if quote.ticker == ticker else None

    def pages(self, market: Market) -> int:
        """How many pages a market's table has."""
        return -(-len(self._numbers(market)) // self._spec.per_page)

    def page(self, market: Market, page: int, *, version: int) -> Iterator[Quote]:
        """The quotes on a page of a market's table, counted from 1."""
        start = (page - 1) * self._spec.per_page
        for number in self._numbers(market)[start : start + self._spec.per_page]:
            yield self.quote(number, version=version)

    def _numbers(self, market: Market) -> range:
        return range(self.markets.index(market), self._spec.tickers, len(self.markets))

    def _volume(self, number: int, times: int) -> int | None:
        roll = self._dice.stream("volume", number, times)
        return _large(roll, (10**3, 10**6, 10**9)) if roll.random() < 0.95 else None

    def _prices(self, number: int, market: Market, *, units: int, times: int) -> dict[str, Decimal]:
        price, previous = (
            Decimal(units * (970 + self._dice.number("price", number, time) % 61) // 1000)
            for time in (times, times - 1)
        )
        change = price - previous
        percent = (100 * change / previous).quantize(Decimal("0.01"))
        amounts = {"price": price, "previous": previous, "change": change}
        scaled = {name: value.scaleb(-market.places) for name, value in amounts.items()}
        # abs: a small loss is not written as minus zero.
        return scaled | {"percent": percent or abs(percent)}


def _large(roll: Random, units: tuple[int, ...]) -> int:
    """A number of up to five digits in one of the units, with two decimals."""
    return between(roll, 100, 99_999) * pick(roll, units) // 100


def _ticker(number: int) -> str:
    """Three letters or more, another word for each number."""
    letters: list[str] = []
    while number or len(letters) < 3:
        number, letter = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[letter])
    return "".join(reversed(letters))


def _ticker_number(word: str) -> int | None:
    if not word or len(word) > 12 or not set(word) <= set(_LETTERS):
        return None
    number = 0
    for letter in word:
        number = number * len(_LETTERS) + _LETTERS.index(letter)
    return number
