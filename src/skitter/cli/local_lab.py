"""The lab's demo sites beside a crawl: a shop for each locale and an exchange, on this machine."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from skitter.lab import ExchangeSpec, LabProcess, ShopSpec, WebSpec

if TYPE_CHECKING:
    from collections.abc import Iterator


def demo_web(*, products: int = 200, tickers: int = 200) -> WebSpec:
    """Demo sites, and next to nothing besides."""
    shop, exchange = ShopSpec(products=products), ExchangeSpec(tickers=tickers)
    return WebSpec(hosts=1, pages=1, shop=shop, exchange=exchange)


@contextmanager
def local_lab() -> Iterator[dict[str, Any]]:
    """Serve them; the settings that lead to them.

    They are this machine's own: their robots.txt says how they are asked, and no other delay.
    """
    with LabProcess(demo_web()) as lab:
        yield lab_flags(lab)


def lab_flags(lab: LabProcess) -> dict[str, Any]:
    """Settings for a crawl of the lab."""
    return {
        "fetch.resolve": [lab.rule],
        "politeness.delay_s": 0,
        "politeness.latency_factor": 0,
    }
