from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from skitter.jobs import permitted, sitemap_source
from skitter.lab import Judging, WebSpec
from tests.integration.cli.sitemap_server import index, urlset

if TYPE_CHECKING:
    from pathlib import Path

    from skitter.lab.pytest_plugin import StartLabProcess
    from tests.integration.cli.pushes import Pushes
    from tests.integration.cli.sitemap_server import SitemapServer

A, B, C = (f"http://x.example/{name}" for name in "abc")


@pytest.fixture
def site(pushes: Pushes, sitemap_server: SitemapServer) -> SitemapServer:
    pushes.flags["fetch.resolve"] = sitemap_server.rule
    return sitemap_server


def test_a_whole_index_at_the_hosts_pace(pushes: Pushes, lab_process: StartLabProcess) -> None:
    web = lab_process(
        WebSpec(hosts=1, pages=45, sitemap_urls=10, delays_ms=(100,)), judging=Judging(log=50)
    )
    pushes.flags |= {"fetch.resolve": web.rule, "politeness.delay_s": "0.1"}
    pushed = pushes.run("--sitemap", web.url(0, "/sitemap.xml"))
    assert pushed.told == (45, 0, 0)
    verdict = web.verdict(coverage=False)
    assert verdict.polite
    assert verdict.requests == 6


def test_packed_sitemaps_by_url_and_by_file(
    pushes: Pushes, site: SitemapServer, tmp_path: Path
) -> None:
    packed = gzip.compress(urlset(A, B).encode())
    one = site.add("/one.xml.gz", packed, headers={"Content-Type": "application/gzip"})
    two = site.add("/two.xml", packed, headers={"Content-Encoding": "gzip"})
    (tmp_path / "three.xml.gz").write_bytes(gzip.compress(urlset(B, C).encode()))
    pushed = pushes.run(
        *("--sitemap", one, "--sitemap", two, "--sitemap", "three.xml.gz"),
        *("--set", "fetch.user_agent=Pusher/1.0", "--callback", "parse_c"),
    )
    assert pushed.told == (3, 3, 0)
    assert site.asked == [("/one.xml.gz", "Pusher/1.0"), ("/two.xml", "Pusher/1.0")]
    assert {request.callback for request in pushes.queued()} == {"parse_c"}


def test_an_index_in_a_file_is_followed_once_and_not_for_ever(
    pushes: Pushes, site: SitemapServer, tmp_path: Path
) -> None:
    deep = site.add("/deep.xml", urlset(A))
    for n in range(5, 0, -1):
        deep = site.add(f"/index{n}.xml", index(deep, "http://x.example/index1.xml"))
    (tmp_path / "index.xml").write_text(index(deep, deep, site.add("/b.xml", urlset(B))))
    pushed = pushes.run("--sitemap", "index.xml")
    assert pushed.told == (1, 0, 1)
    assert pushed.reasons == {"sitemap: it lies more than 3 indexes deep": 1}
    assert sorted(site.paths()) == ["/b.xml", "/index1.xml", "/index2.xml", "/index3.xml"]


def test_redirects_and_passing_failures(pushes: Pushes, site: SitemapServer) -> None:
    site.add("/real.xml", urlset(A), failures=2)
    moved = site.add("/moved.xml", status=301, headers={"Location": "/real.xml"})
    assert pushes.run("--sitemap", moved, "--set", "politeness.latency_factor=0").told == (1, 0, 0)
    assert site.paths() == ["/moved.xml", "/real.xml", "/real.xml", "/real.xml"]


def test_a_sitemap_that_fails_does_not_hold_up_the_others(
    pushes: Pushes, site: SitemapServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(permitted, "MAX_REDIRECTS", 2)
    loop = site.add("/loop.xml", status=302, headers={"Location": "/loop.xml"})
    html = site.add("/html.xml", "<html/>")
    half = site.add("/half.xml", urlset(A, B)[:-10])
    bad = site.add("/index.xml", index("http://x.example/missing.xml", "ftp://x/", loop, html))
    pushed = pushes.run("--sitemap", bad, "--sitemap", half)
    assert (pushed.code, pushed.told) == (0, (2, 0, 5))
    assert set(pushed.reasons) == {
        "sitemap: its server answers with status 404",
        "sitemap: ftp is not http or https",
        "sitemap: it redirects more than 2 times",
        "sitemap: its first element is <html>, not <urlset> or <sitemapindex>",
        "sitemap: its XML is broken: unclosed token",
    }
    assert "http://x.example/missing.xml: sitemap: its server answers" in pushed.stderr


def test_if_nothing_can_be_had_the_command_fails(pushes: Pushes, site: SitemapServer) -> None:
    pushed = pushes.run("--sitemap", site.add("/gone.xml", status=410))
    assert pushed.code == 1
    assert "every URL was refused: sitemap: its server answers with status 410" in pushed.stderr


def test_a_sitemap_may_not_be_endless(
    pushes: Pushes, site: SitemapServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skitter.cli.push.MAX_BYTES", 1 << 20)
    monkeypatch.setattr(sitemap_source, "MAX_SITEMAPS", 3)
    big = site.add("/big.xml", urlset(A) + " " * (2 << 20))
    many = site.add("/many.xml", index(big, *(site.add(f"/{n}.xml", urlset(B)) for n in range(3))))
    pushed = pushes.run("--sitemap", many)
    assert pushed.reasons == {
        "sitemap: there are more than 3": 2,
        "sitemap: it is longer than 1 MiB": 1,
    }
    assert site.paths() == ["/many.xml", "/big.xml", "/0.xml"]


def test_a_host_that_is_away_is_told(pushes: Pushes) -> None:
    pushes.flags["fetch.resolve"] = "*.example=127.0.0.1:1"
    pushes.flags["politeness.max_delay_s"] = "0.5"
    pushed = pushes.run("--sitemap", "http://x.example/sitemap.xml", "https://a.example/")
    assert pushed.told == (1, 0, 1)
    assert next(iter(pushed.reasons)).startswith("sitemap: ")
