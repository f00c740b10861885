from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import aiohttp
import pytest
from protego import Protego

from skitter.lab import WebSpec
from skitter.lab.render import SENTENCES

if TYPE_CHECKING:
    from skitter.lab.pytest_plugin import StartLab
    from tests.integration.lab.conftest import Client

NAMESPACE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


@pytest.mark.parametrize("name", ["windows-1251", "shift_jis", "latin-1", "utf-8"])
async def test_charset_pages_are_declared_and_readable(
    lab: StartLab, client: Client, name: str
) -> None:
    web = await lab()
    session = await client(web)
    official = {"latin-1": "iso-8859-1"}.get(name, name)
    answer = await session.get(web.url(0, f"/charset/{name}"))
    assert answer.charset == official
    assert SENTENCES[official].strip() in await answer.text()
    bare = await session.get(web.url(0, f"/charset/{name}/meta"))
    assert bare.charset is None
    assert f'<meta charset="{official}">'.encode() in await bare.read()


async def test_pages_come_in_the_charsets_of_the_spec(lab: StartLab, client: Client) -> None:
    web = await lab(WebSpec(pages=30, charsets=("utf-8", "windows-1251", "shift_jis")))
    session = await client(web)
    found = set()
    for page in range(1, 30):
        answer = await session.get(web.url(0, f"/p/{page}"))
        assert f"Page {page} of h0.lab" in await answer.text()
        found.add(answer.charset)
    assert found == {"utf-8", "windows-1251", "shift_jis"}


async def test_compressed_pages_are_read(lab: StartLab, client: Client) -> None:
    web = await lab(WebSpec(gzip=True, page_bytes=5000))
    session = await client(web)
    for path in ("/", "/gzip"):
        answer = await session.get(web.url(0, path), headers={"Accept-Encoding": "gzip"})
        assert answer.headers["Content-Encoding"] == "gzip"
        assert "politely" in await answer.text()


async def test_robots_txt_tells_the_delay_the_disallows_and_the_sitemap(
    lab: StartLab, client: Client
) -> None:
    web = await lab(WebSpec(delays_ms=(0, 1500), disallow=("/private/", "/p/3")))
    session = await client(web)
    rules = [
        Protego.parse(await (await session.get(web.url(host, "/robots.txt"))).text())
        for host in (0, 1)
    ]
    assert [rule.crawl_delay("any") for rule in rules] == [None, 1.5]
    assert not rules[0].can_fetch(web.url(0, "/p/3"), "any")
    assert rules[0].can_fetch(web.url(0, "/p/2"), "any")
    assert list(rules[1].sitemaps) == [web.url(1, "/sitemap.xml")]


async def test_a_web_can_be_without_robots_txt_and_sitemaps(lab: StartLab, client: Client) -> None:
    web = await lab(WebSpec(robots=False, sitemap=False))
    session = await client(web)
    for path in ("/robots.txt", "/sitemap.xml", "/sitemap-1.xml"):
        assert (await session.get(web.url(0, path))).status == 404


async def test_sitemaps_name_every_page(lab: StartLab, client: Client) -> None:
    web = await lab(WebSpec(hosts=2, pages=25, sitemap_urls=10))
    session = await client(web)
    index = ET.fromstring(await (await session.get(web.url(1, "/sitemap.xml"))).read())
    files = [element.text or "" for element in index.iter(f"{NAMESPACE}loc")]
    assert (index.tag, len(files)) == (f"{NAMESPACE}sitemapindex", 3)
    urls: list[str] = []
    for file in files:
        urlset = ET.fromstring(await (await session.get(file)).read())
        urls += [element.text or "" for element in urlset.iter(f"{NAMESPACE}loc")]
    assert urls == [web.url(1)] + [web.url(1, f"/p/{page}") for page in range(1, 25)]


async def test_a_current_copy_is_not_sent_again(lab: StartLab, client: Client) -> None:
    web = await lab()
    session = await client(web)
    first = await session.get(web.url(0, "/p/1"))
    for name, value in (
        ("If-None-Match", first.headers["ETag"]),
        ("If-Modified-Since", first.headers["Last-Modified"]),
    ):
        again = await session.get(web.url(0, "/p/1"), headers={name: value})
        assert (again.status, await again.read()) == (304, b"")
        assert again.headers["ETag"] == first.headers["ETag"]
    assert (await web.verdict()).duplicates.count == 0


async def test_a_login_opens_the_pages_behind_it(lab: StartLab, client: Client) -> None:
    web = await lab()
    session = await client(web, cookie_jar=aiohttp.CookieJar())
    turned_away = await session.get(web.url(0, "/account"))
    assert turned_away.url.path == "/login"
    match = re.search(r'name="token" value="(\w+)"', await turned_away.text())
    assert match
    form = {"user": "lab", "password": "wrong", "token": match[1]}
    assert (await session.post(web.url(0, "/login"), data=form)).status == 403
    entered = await session.post(web.url(0, "/login"), data=form | {"password": "secret"})
    assert (entered.url.path, "Welcome, lab" in await entered.text()) == ("/account", True)
    assert "Order 3" in await (await session.get(web.url(0, "/account/3"))).text()
    assert (await session.get(web.url(1, "/account"))).url.path == "/login"
    await session.get(web.url(0, "/logout"))
    assert (await session.get(web.url(0, "/account/3"))).url.path == "/login"


async def test_cookies_are_set_and_seen(lab: StartLab, client: Client) -> None:
    web = await lab(WebSpec(cookies=True))
    session = await client(web)
    answer = await session.get(web.url(0))
    assert "visitor" in answer.cookies
    assert "visitor" not in (await session.get(web.url(0, "/p/1"))).cookies
    await session.get(web.url(0, "/cookies"))
    seen = (await (await session.get(web.url(0, "/cookies"))).json())["cookies"]
    assert (seen["visits"], "visitor" in seen) == ("1", True)


async def test_the_echo_tells_what_was_sent(lab: StartLab, client: Client) -> None:
    web = await lab()
    session = await client(web)
    answer = await session.post(web.url(2, "/echo?a=1"), data=b"hi", headers={"X-Test": "yes"})
    echo = await answer.json()
    assert (echo["method"], echo["host"], echo["target"]) == ("POST", "h2.lab", "/echo?a=1")
    assert (echo["body"], echo["headers"]["x-test"]) == ("hi", "yes")
