"""TLS as Scrapy's own client has it."""

from __future__ import annotations

import pytest
from scrapy.core.downloader.contextfactory import _ScrapyClientContextFactory
from scrapy.settings import Settings

from skitter.engine.downloading import LEGACY_SERVER_CONNECT, tls_of

pytestmark = pytest.mark.unit


def test_old_servers_are_talked_to_as_by_scrapy() -> None:
    scrapys = _ScrapyClientContextFactory()._get_context()
    assert scrapys.set_options(0) & LEGACY_SERVER_CONNECT
    assert tls_of(Settings()).options & LEGACY_SERVER_CONNECT
