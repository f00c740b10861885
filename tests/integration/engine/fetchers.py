"""Every fetcher that there is, for tests that are asked of each."""

from __future__ import annotations

from typing import Any

import pytest

from skitter.engine.aiohttp_fetcher import AiohttpFetcher

FETCHERS = ("aiohttp", "curl")


def make_fetcher(name: str, **options: Any) -> Any:
    """A fetcher by its name; skips where its extra is not installed."""
    if name == "aiohttp":
        return AiohttpFetcher(**options)
    pytest.importorskip("pycurl", reason="the extra curl is not installed")
    from skitter.engine.curl_fetcher import CurlFetcher  # noqa: PLC0415

    return CurlFetcher(**options)
