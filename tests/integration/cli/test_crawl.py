"""`skitter crawl`: to its end, cut short and gone on with, and what it ends with."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from skitter.lab import ShopSpec, WebSpec
from tests.integration.cli.crawls import Crawls
from tests.wait import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skitter.lab.pytest_plugin import StartLabProcess

pytestmark = pytest.mark.timeout(600)

HOSTS, PAGES = 8, 60


@pytest.fixture
def crawls(lab_process: StartLabProcess, tmp_path: Path) -> Iterator[Crawls]:
    """A web that takes some time, and a folder."""
    spec = WebSpec(
        hosts=HOSTS,
        pages=PAGES,
        links=8,
        delays_ms=(40.0,),
        latency_ms=(2.0, 10.0),
        private_links=0.1,
        shop=ShopSpec(products=30, locales=("en-US",)),
    )
    found = Crawls(tmp_path, lab_process(spec))
    yield found
    print(found.err())
    found.close()


def test_urls_to_their_end(crawls: Crawls) -> None:
    url = crawls.lab.url(0)
    code = crawls.run("crawl", url, "--max-depth", "1", "-o", "pages.jsonl", "--json")
    assert code == 0, crawls.err()
    told = crawls.told()
    assert (told["spider"], told["outcome"], told["resumed"]) == ("link", "finished", False)
    lines = (crawls.folder / "pages.jsonl").read_text().splitlines()
    assert told["exported"] == {"file": "pages.jsonl", "items": len(lines)}
    assert told["pages"] == told["items"] == len(lines) > 1
    assert "by the spider link" in crawls.err()
    assert crawls.run("audit", "--json") == 0
    (line,) = crawls.told()["entries"]
    assert (line["action"], line["status"]) == (f"skitter crawl {url}", 200)


def test_a_shop_by_a_spider_that_comes_with_it(crawls: Crawls) -> None:
    url = crawls.lab.url("shop-us.lab")
    code = crawls.run("crawl", url, "--spider", "ecommerce", "-o", "products.csv")
    assert code == 0, crawls.err()
    out = crawls.out()
    assert "finished after" in out
    assert "products.csv" in out
    assert len((crawls.folder / "products.csv").read_text().splitlines()) > 15


def test_a_limit_is_exact_and_no_failure(crawls: Crawls) -> None:
    code = crawls.run("crawl", crawls.lab.url(0), "--max-pages", "7", "--json")
    assert code == 0
    told = crawls.told()
    assert (told["pages"], told["outcome"]) == (7, "limit reached")


def whole(crawls: Crawls) -> list[str]:
    """A command for all of the web, from one page of each host."""
    return [
        "crawl",
        *map(crawls.lab.url, range(HOSTS)),
        "-a",
        "offsite=1",
        "--processes",
        "2",
        "--json",
    ]


@pytest.mark.parametrize("how", ["ctrl-c", "kill -9"])
def test_a_crawl_that_was_cut_short_is_gone_on_with(crawls: Crawls, how: str) -> None:
    command = whole(crawls)
    process = crawls.start(*command)
    wait_until(lambda: crawls.fetched() > 60, timeout_s=180, what="it crawls")
    if how == "ctrl-c":
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 130, crawls.err()
        told = crawls.told()
        assert told["state"] == "paused"
        assert told["queued"] > 0
        assert told["leased"] == 0
        job = told["job"]
    else:
        assert crawls.kill_all(process) >= 3
        job = ""
    assert crawls.run(*command) == 0, crawls.err()
    told = crawls.told()
    assert (told["outcome"], told["resumed"]) == ("finished", True)
    assert not job or told["job"] == job
    verdict = crawls.lab.verdict()
    assert verdict.polite, verdict
    assert verdict.coverage
    assert verdict.coverage.missing == []
    assert told["pages"] >= HOSTS * PAGES
    if how == "ctrl-c":
        assert verdict.duplicates.count == 0


def test_an_ended_crawl_begins_anew(crawls: Crawls) -> None:
    command = ["crawl", crawls.lab.url(0), "--max-depth", "0", "--json"]
    assert crawls.run(*command) == 0
    first = crawls.told()
    assert crawls.run(*command) == 0
    second = crawls.told()
    assert second["resumed"] is False
    assert first["job"] != second["job"]
    assert second["pages"] == 1


def test_a_spider_that_cannot_start_is_told(crawls: Crawls) -> None:
    code = crawls.run("crawl", "wandering", "-a", "steps=many", "-a", f"url={crawls.lab.url(0)}")
    assert code == 1
    assert "the spider does not start" in crawls.err()
    assert "many" in crawls.err()


def test_what_there_is_not_is_refused_at_once(crawls: Crawls) -> None:
    assert crawls.run("crawl", "ecomerce") == 1
    assert "did you mean ecommerce?" in crawls.err()
    assert crawls.run("crawl", "link", "-o", "pages.doc") == 2
