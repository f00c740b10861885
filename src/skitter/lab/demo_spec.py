"""What the demo sites are like: a shop for each locale, and an exchange.

Both are part of a `WebSpec` and take its seed. What changes with the web's `version` does so by
shares: with `price_changes=0.1`, each new version gives about a tenth of the products another
price, and which ones is the same in every run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict

from skitter.lab.refusal import refuse

LOCALES = ("en-US", "en-GB", "de-DE", "fr-FR", "fr-TN")
MARKUPS = ("json-ld", "microdata", "plain")
MAX_VERSION = 10_000
"""As far as the exchange's clock, a minute a version, stays on one side of daylight saving."""

_CONFIG = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class ShopSpec:
    """The shops: one for each locale, each with as many products."""

    __pydantic_config__: ClassVar[ConfigDict] = _CONFIG

    products: int = 200
    """Products per shop."""
    locales: tuple[str, ...] = LOCALES
    host_pattern: str = "shop-{country}.lab"
    per_page: int = 20
    """Products on a page of a listing."""
    markup: tuple[str, ...] = MARKUPS
    """The kinds of structured data, of which each product page has one; plain is none."""
    twice: float = 0.15
    """The share of products that a second sub-category lists too."""
    aliases: float = 0.3
    """The share of second listings that lead to another URL of the product."""
    sales: float = 0.25
    """The share of products with a crossed-out price beside the price."""
    price_changes: float = 0.1
    """The share of prices that each new version changes."""
    stock_changes: float = 0.1
    """The share of products whose stock each new version changes."""
    delay_ms: float = 0.0
    concurrency: int = 8

    def __post_init__(self) -> None:
        shares = ("twice", "aliases", "sales", "price_changes", "stock_changes")
        problems = _share_problems("shop", self, shares) | _manner_problems("shop", self)
        problems |= {
            "a shop's products and per_page must be 1 or more": min(self.products, self.per_page)
            < 1,
            f"a shop's locales must be among {', '.join(LOCALES)}": not _among(
                self.locales, LOCALES
            ),
            f"a shop's markup must be among {', '.join(MARKUPS)}": not _among(self.markup, MARKUPS),
            "a shop's host_pattern must be in lower case and hold {country} once": (
                self.host_pattern.count("{country}") != 1
                or self.host_pattern != self.host_pattern.lower()
            ),
        }
        refuse(problems)

    def host(self, locale: str) -> str:
        """The name of a locale's shop: the pattern with the country in it."""
        return self.host_pattern.replace("{country}", locale.partition("-")[2].lower())


@dataclass(frozen=True)
class ExchangeSpec:
    """The exchange: one host with several markets."""

    __pydantic_config__: ClassVar[ConfigDict] = _CONFIG

    tickers: int = 200
    """Tickers in all markets together."""
    host: str = "exchange.lab"
    per_page: int = 25
    """Rows on a page of a market's table."""
    quote_changes: float = 0.5
    """The share of quotes that each new version changes."""
    delay_ms: float = 0.0
    concurrency: int = 8

    def __post_init__(self) -> None:
        problems = _share_problems("exchange", self, ("quote_changes",))
        problems |= _manner_problems("exchange", self)
        problems |= {
            "an exchange's tickers and per_page must be 1 or more": min(self.tickers, self.per_page)
            < 1,
            "an exchange's host must be a name in lower case": (
                not self.host or self.host != self.host.lower()
            ),
        }
        refuse(problems)


def check_version(version: int) -> int:
    """The version itself, if the demo sites have it."""
    refuse({f"version must be from 0 to {MAX_VERSION}": not 0 <= version <= MAX_VERSION})
    return version


def _among(names: tuple[str, ...], known: tuple[str, ...]) -> bool:
    return bool(names) and set(names) <= set(known) and len(set(names)) == len(names)


def _share_problems(site: str, spec: object, names: tuple[str, ...]) -> dict[str, bool]:
    return {
        f"{site}.{name} must be from 0 to 1": not 0 <= getattr(spec, name) <= 1 for name in names
    }


def _manner_problems(site: str, spec: ShopSpec | ExchangeSpec) -> dict[str, bool]:
    return {
        f"{site}.delay_ms must be 0 or more": spec.delay_ms < 0,
        f"{site}.concurrency must be 1 or more": spec.concurrency < 1,
    }
