"""Cookies come back as they were, and only what changed is written."""

from __future__ import annotations

import pytest
import scrapy
from scrapy.http import Response
from scrapy.http.cookies import CookieJar

from skitter.engine.cookie_forms import changes, from_stored, snapshot

pytestmark = pytest.mark.unit

REQUEST = scrapy.Request("https://shop.example.com/a/")


def jar(*headers: str) -> CookieJar:
    made = CookieJar()
    made.extract_cookies(Response(REQUEST.url, headers={"Set-Cookie": list(headers)}), REQUEST)
    return made


@pytest.mark.parametrize(
    "header",
    [
        "a=1",
        "a=1; Path=/b",
        "a=1; Domain=example.com",
        "a=1; Secure; Max-Age=1000",
        'a="quoted value"',
        "a=",
        "a",
    ],
)
def test_a_cookie_survives(header: str) -> None:
    before = jar(header)
    after = CookieJar()
    for cookie in snapshot(before).values():
        after.set_cookie(from_stored(cookie))
    assert snapshot(after) == snapshot(before)
    for url in (REQUEST.url, "https://example.com/", "http://shop.example.com/b"):
        sent = [scrapy.Request(url), scrapy.Request(url)]
        before.add_cookie_header(sent[0])
        after.add_cookie_header(sent[1])
        assert sent[0].headers == sent[1].headers


def test_only_what_changed_is_written() -> None:
    before, after = snapshot(jar("a=1", "b=1", "c=1")), snapshot(jar("a=1", "b=2", "d=1"))
    written, gone = changes(before, after)
    assert {cookie.name: cookie.value for cookie in written} == {"b": "2", "d": "1"}
    assert [cookie.name for cookie in gone] == ["c"]
