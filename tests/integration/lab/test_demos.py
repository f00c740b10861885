"""The demo sites over HTTP: served beside the web, judged, versioned by the desk."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin
from xml.etree import ElementTree as ET

import pytest
from protego import Protego

from skitter.lab import ExchangeSpec, LabSpecError, ShopSpec, WebSpec
from tests.integration.lab.test_process import CLI, fetch
from tests.unit.lab.readers import (
    as_numbers,
    links,
    read_product,
    read_quote,
    read_quote_json,
)

if TYPE_CHECKING:
    import aiohttp

    from skitter.lab.pytest_plugin import StartLab, StartLabProcess
    from tests.integration.lab.conftest import Client

SMALL = WebSpec(
    hosts=2, pages=2, shop=ShopSpec(products=30, per_page=2, twice=0.5), exchange=ExchangeSpec()
)
LOCATION = "{http://www.sitemaps.org/schemas/sitemap/0.9}loc"


async def crawl(session: aiohttp.ClientSession, start: str) -> dict[str, bytes]:
    """Every page that `<a>` leads to on the start's host, but for those not to be followed."""
    pages: dict[str, bytes] = {}
    ahead = [start]
    while ahead:
        url = ahead.pop()
        if url in pages:
            continue
        async with session.get(url) as answer:
            assert answer.status == 200
            pages[url] = await answer.read()
        ahead += [urljoin(url, link) for link in links(pages[url], "a:not([rel=nofollow])")]
    return pages


@pytest.mark.parametrize("country", ["us", "gb", "de", "fr", "tn"])
async def test_a_crawl_of_a_shop_brings_the_truth_home(
    lab: StartLab, client: Client, country: str
) -> None:
    home = f"http://shop-{country}.lab/"
    web = await lab(SMALL, seeds=[home])
    pages = await crawl(await client(web), home)
    found = [read_product(body, url) for url, body in pages.items() if "/p/" in url]
    items = {item["url"]: item for item in found}
    truth = {row["url"]: as_numbers(row) for row in web.shop_truth(host=f"shop-{country}.lab")}
    assert len(truth) == 30
    assert {url: {name: row[name] for name in found[0]} for url, row in truth.items()} == items
    verdict = await web.verdict()
    assert verdict.polite
    assert verdict.coverage is not None
    assert (verdict.coverage.share, verdict.coverage.expected) == (1.0, len(pages))


async def test_a_crawl_of_the_exchange_brings_the_truth_home(lab: StartLab, client: Client) -> None:
    web = await lab(SMALL, seeds=["http://exchange.lab/"])
    session = await client(web)
    pages = await crawl(session, "http://exchange.lab/")
    items = []
    for url, body in pages.items():
        if "/quote/" in url:
            sources = links(body, "link[rel=alternate]")
            answer = await session.get(urljoin(url, sources[0])) if sources else None
            items.append(read_quote_json(await answer.read()) if answer else read_quote(body))
    truth = {row["ticker"]: as_numbers(row) for row in web.exchange_truth()}
    expected = {key: {name: row[name] for name in items[0]} for key, row in truth.items()}
    assert {item["ticker"]: item for item in items} == expected
    verdict = await web.verdict()
    assert verdict.coverage is not None
    assert (verdict.polite, verdict.coverage.share) == (True, 1.0)


async def test_the_truth_over_http_is_the_truth_in_python(lab: StartLab, client: Client) -> None:
    web = await lab(SMALL)
    session = await client(web)
    for question, rows in [
        ("shop", web.shop_truth(0)),
        ("shop?version=3", web.shop_truth(3)),
        ("shop?host=shop-tn.lab&version=2", web.shop_truth(2, host="shop-tn.lab")),
        ("exchange?version=5", web.exchange_truth(5)),
    ]:
        answer = await session.get(f"http://referee.lab/truth/{question}")
        assert answer.content_type == "application/x-ndjson"
        assert [json.loads(line) for line in (await answer.text()).splitlines()] == list(rows)
    assert (await web.verdict(coverage=False)).requests == 0


async def test_a_version_set_at_the_desk_is_served_from_then_on(
    lab: StartLab, client: Client
) -> None:
    web = await lab(SMALL)
    session = await client(web)
    before = list(web.shop_truth())
    answer = await session.post("http://referee.lab/version?to=4")
    assert await answer.json() == {"version": 4} == {"version": web.version}
    after = list(web.shop_truth())
    assert [row["price"] for row in after] != [row["price"] for row in before]
    for row in after:
        async with session.get(row["url"]) as page:
            shown = read_product(await page.read(), row["url"])
        assert shown == {name: as_numbers(row)[name] for name in shown}
    web.set_version(0)
    assert list(web.shop_truth()) == before
    asked = await session.get("http://referee.lab/version")
    assert await asked.json() == {"version": 0}


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("truth/shop?version=x", "version must be a number"),
        ("truth/shop?version=99999", "version must be from 0 to"),
        ("truth/shop?host=h0.lab", "no shop on h0.lab"),
        ("truth/exchange", "no exchange"),
    ],
)
async def test_a_question_without_an_answer_says_why(
    lab: StartLab, client: Client, question: str, message: str
) -> None:
    web = await lab(WebSpec(shop=ShopSpec(products=3)))
    answer = await (await client(web)).get(f"http://referee.lab/{question}")
    assert answer.status == 400
    assert message in await answer.text()


async def test_a_long_truth_is_made_while_it_is_read(lab: StartLab, client: Client) -> None:
    web = await lab(WebSpec(shop=ShopSpec(products=1_000_000)))
    session = await client(web)
    async with session.get("http://referee.lab/truth/shop") as answer:
        first = json.loads(await answer.content.readline())
        assert first == next(web.shop_truth())
        async with session.get(first["url"]) as page:
            assert page.status == 200
        answer.close()
    async with session.get("http://referee.lab/version") as answer:
        assert answer.status == 200


async def test_robots_and_sitemap_of_a_demo_site(lab: StartLab, client: Client) -> None:
    shop = ShopSpec(products=30, delay_ms=1500, locales=("fr-TN",))
    web = await lab(WebSpec(shop=shop, exchange=ExchangeSpec(tickers=7), sitemap_urls=20))
    session = await client(web)
    robots = Protego.parse(await (await session.get("http://shop-tn.lab/robots.txt")).text())
    assert robots.crawl_delay("any") == 1.5
    assert not robots.can_fetch("http://shop-tn.lab/cart/1", "any")
    exchange = Protego.parse(await (await session.get("http://exchange.lab/robots.txt")).text())
    assert exchange.crawl_delay("any") is None
    files = await locations(session, next(iter(robots.sitemaps)))
    assert len(files) == 2
    listed = [url for file in files for url in await locations(session, file)]
    assert listed == [row["url"] for row in web.shop_truth()]
    quotes = await locations(session, "http://exchange.lab/sitemap-1.xml")
    assert quotes == [row["url"] for row in web.exchange_truth()]


async def locations(session: aiohttp.ClientSession, url: str) -> list[str]:
    async with session.get(url) as answer:
        tree = ET.fromstring(await answer.text())
    return [element.text or "" for element in tree.iter(LOCATION)]


async def test_the_referee_judges_demo_sites(lab: StartLab, client: Client) -> None:
    shop = ShopSpec(products=30, delay_ms=60_000, locales=("de-DE",))
    web = await lab(WebSpec(shop=shop, exchange=ExchangeSpec()))
    session = await client(web)
    for path in ("/", "/c/computer/", "/cart/1"):
        async with session.get(f"http://shop-de.lab{path}") as answer:
            assert answer.status == 200
    for path in ("/", "/", "/cart/1"):
        async with session.get(f"http://exchange.lab{path}") as answer:
            await answer.read()
    verdict = await web.verdict(coverage=False)
    found = (verdict.gaps.count, verdict.disallowed.count, verdict.duplicates.count)
    assert found == (2, 1, 1)


async def test_the_webs_latency_cookies_and_compression_apply(
    lab: StartLab, client: Client
) -> None:
    web = await lab(WebSpec(shop=ShopSpec(products=1), cookies=True, gzip=True))
    session = await client(web)
    async with session.get("http://shop-us.lab/") as answer:
        assert answer.headers["Content-Encoding"] == "gzip"
        assert "visitor" in answer.cookies
        assert links(await answer.read(), ".category-list a") == ["/c/computers/"]
        etag = answer.headers["ETag"]
    async with session.get("http://shop-us.lab/", headers={"If-None-Match": etag}) as answer:
        assert (answer.status, await answer.read()) == (304, b"")


async def test_links_keep_the_port_that_the_client_came_by(lab: StartLab, client: Client) -> None:
    web = await lab(WebSpec(shop=ShopSpec(products=1, markup=("json-ld",))))
    path = next(web.shop_truth(host="shop-gb.lab"))["url"].removeprefix("http://shop-gb.lab")
    session = await client(web)
    headers = {"Host": f"shop-gb.lab:{web.port}"}
    async with session.get(f"http://127.0.0.1:{web.port}{path}", headers=headers) as answer:
        page = await answer.text()
    assert f'<link rel="canonical" href="http://shop-gb.lab:{web.port}{path}">' in page
    assert f'"http://shop-gb.lab:{web.port}/img/0-1.' in page


def test_a_lab_in_another_process_has_demo_sites_too(lab_process: StartLabProcess) -> None:
    web = lab_process(SMALL)
    web.set_version(2)
    assert web.version == 2
    row = as_numbers(next(web.shop_truth(host="shop-fr.lab")))
    shown = read_product(fetch(web.proxy, row["url"]), row["url"])
    assert shown == {name: row[name] for name in shown}
    lines = fetch("", f"{web.proxy}/__referee__/truth/exchange").decode().splitlines()
    assert list(map(json.loads, lines)) == list(web.exchange_truth(2))
    with pytest.raises(LabSpecError, match="version must be from 0"):
        web.set_version(-1)


@pytest.mark.parametrize("as_json", [True, False])
def test_the_command_serves_demo_sites(as_json: bool) -> None:
    options = ["serve", "--port", "0", "--shop", "--exchange", "--set", "shop={products: 7}"]
    arguments = [sys.executable, "-c", CLI, *options, *(["--json"] if as_json else [])]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as command:
        try:
            out = _printed(command, last="demos" if as_json else "Ctrl-C")
        finally:
            command.send_signal(signal.SIGINT)
            command.communicate(timeout=30)
    hosts = [f"http://shop-{country}.lab/" for country in ("us", "gb", "de", "fr", "tn")]
    if as_json:
        assert json.loads(out)["demos"] == [*hosts, "http://exchange.lab/"]
    else:
        assert all(host in out for host in hosts)
        assert out.count("/__referee__/truth/") == 2


def _printed(command: subprocess.Popen[str], *, last: str) -> str:
    """What the command prints, up to the line that begins with this or holds it."""
    assert command.stdout
    lines: list[str] = []
    while not lines or last not in lines[-1]:
        lines.append(command.stdout.readline())
        assert lines[-1]
    return "".join(lines)


async def test_the_ordinary_web_is_the_same_with_demo_sites_beside_it(
    lab: StartLab, client: Client
) -> None:
    alone, beside = (
        await lab(WebSpec(hosts=2, pages=5)),
        await lab(WebSpec(hosts=2, pages=5, shop=ShopSpec(), exchange=ExchangeSpec())),
    )
    bodies: list[Counter[Any]] = []
    for web in (alone, beside):
        session = await client(web)
        answers = [await session.get(web.url(host, f"/p/{n}")) for host in (0, 1) for n in (1, 4)]
        bodies.append(Counter([await answer.read() for answer in answers]))
    assert bodies[0] == bodies[1]
    assert (await alone.graph()).pages == (await beside.graph()).pages
