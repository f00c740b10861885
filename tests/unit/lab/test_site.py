from __future__ import annotations

import gzip
from email.utils import formatdate

import pytest

from skitter.lab import Fault, Web, WebSpec
from skitter.lab.answer import Answer
from skitter.lab.site import Site
from skitter.lab.wire import BadHead, Request, parse_head


def ask(site: Site, target: str, *headers: str, host: str = "h0.lab") -> Answer:
    return site.answer(request(target, *headers, host=host))


def request(target: str, *headers: str, host: str = "h0.lab") -> Request:
    lines = [f"GET {target} HTTP/1.1", f"Host: {host}", *headers]
    return parse_head("\r\n".join(lines).encode())


def header(answer: Answer, name: str) -> str:
    return dict(answer.headers)[name]


def test_the_same_url_gives_the_same_bytes() -> None:
    spec = WebSpec(charsets=("utf-8", "shift_jis", "windows-1251", "iso-8859-1"))
    one, other = Site(Web(spec)), Site(Web(spec))
    for page in range(1, 20):
        assert ask(one, f"/p/{page}").whole() == ask(other, f"/p/{page}").whole()


@pytest.mark.parametrize("charset", ["utf-8", "windows-1251", "shift_jis", "iso-8859-1"])
@pytest.mark.parametrize("size", [2000, 100_000])
def test_a_page_has_the_size_asked_for_in_every_charset(charset: str, size: int) -> None:
    site = Site(Web(WebSpec(page_bytes=size, charsets=(charset,))))
    for page in range(1, 10):
        answer = ask(site, f"/p/{page}")
        answer.body.decode(charset)
        assert answer.content_type.endswith(f"charset={charset}")
        assert size - 1 <= len(answer.body) <= size


def test_links_keep_the_port_that_the_client_came_by() -> None:
    site = Site(Web(WebSpec(hosts=3)))
    assert b'href="http://h1.lab:8080/"' in ask(site, "/", host="h0.lab:8080").body
    assert b'href="http://h1.lab/"' in ask(site, "/").body


def test_an_edition_lasts_until_the_page_changes() -> None:
    now = [1_000_000.0]
    site = Site(Web(WebSpec(change_s=60)), now_s=lambda: now[0])
    first = ask(site, "/p/1")
    etag, modified = header(first, "ETag"), header(first, "Last-Modified")
    assert ask(site, "/p/1", f"If-None-Match: {etag}").status == 304
    assert ask(site, "/p/1", f"If-Modified-Since: {modified}").status == 304
    now[0] += 60
    second = ask(site, "/p/1", f"If-None-Match: {etag}", f"If-Modified-Since: {modified}")
    assert (second.status, second.body == first.body) == (200, False)
    assert header(second, "ETag") != etag


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("If-None-Match: *", 304),
        ('If-None-Match: "other"', 200),
        (f"If-Modified-Since: {formatdate(0, usegmt=True)}", 200),
        (f"If-Modified-Since: {formatdate(4e9, usegmt=True)}", 304),
        ("If-Modified-Since: yesterday", 200),
    ],
)
def test_conditions_are_judged_as_http_says(line: str, status: int) -> None:
    assert ask(Site(Web(WebSpec())), "/", line).status == status


def test_a_passing_fault_counts_attempts_for_each_url_by_itself() -> None:
    site = Site(Web(WebSpec(hosts=1, pages=3, faults=(Fault("503", 1.0, attempts=2),))))
    assert [ask(site, "/p/1").status for _ in range(4)] == [503, 503, 200, 200]
    assert ask(site, "/p/2").status == 503
    site.forget_attempts()
    assert ask(site, "/p/1").status == 503


def test_the_faults_of_a_429_and_a_503_say_when_to_come_back() -> None:
    site = Site(Web(WebSpec(faults=(Fault("429", 1.0, retry_after_s=7),))))
    assert header(ask(site, "/p/1"), "Retry-After") == "7"


def test_compression_only_for_those_who_take_it() -> None:
    site = Site(Web(WebSpec(gzip=True)))
    plain, packed = ask(site, "/"), ask(site, "/", "Accept-Encoding: br, gzip")
    assert gzip.decompress(packed.body) == plain.body
    assert header(packed, "Content-Encoding") == "gzip"


def test_latency_is_within_its_bounds_and_belongs_to_the_url() -> None:
    site = Site(Web(WebSpec(pages=100, latency_ms=(10, 20))))
    delays = [ask(site, f"/p/{page}").latency_ms for page in range(1, 100)]
    assert all(10 <= delay <= 20 for delay in delays)
    assert len(set(delays)) > 50
    assert delays[0] == ask(site, "/p/1").latency_ms


def test_prerendered_pages_are_the_same_pages() -> None:
    spec = WebSpec(hosts=3, pages=4)
    live, ready = Site(Web(spec)), Site(Web(spec), prerender=5)
    for host in ("h0.lab", "h1.lab", "h2.lab"):
        for path in ("/", "/p/1", "/p/3"):
            assert ask(ready, path, host=host).body == ask(live, path, host=host).body


def test_a_prerendered_page_is_handed_out_and_not_made_again() -> None:
    site = Site(Web(WebSpec(hosts=2, pages=2)), prerender=100)
    assert ask(site, "/p/1") is ask(site, "/p/1")


@pytest.mark.parametrize(
    "path",
    ["/p/0", "/p/01", "/p/20", "/p/x", "/go/99/1", "/calendar/2026/13", "/nothing", "/fault/418",
     "/charset/ebcdic", "/sitemap-2.xml", "/account/x", "/slow/x", "/drip/0/1", "/login/x"],
)  # fmt: skip
def test_where_nothing_is_there_is_a_404(path: str) -> None:
    assert ask(Site(Web(WebSpec())), path).status == 404


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /", 400),
        (b"GET / HTTP/1.1", 400),
        (b"GET / HTTP/1.1\r\nHost", 400),
        (b"GET ftp://h0.lab/ HTTP/1.1", 400),
        (b"GET http://[::1 HTTP/1.1", 400),
        (b"CONNECT h0.lab:443 HTTP/1.1\r\nHost: h0.lab:443", 501),
        (b"PATCH / HTTP/1.1\r\nHost: h0.lab", 405),
    ],
)
def test_a_head_that_cannot_be_served_says_why(head: bytes, status: int) -> None:
    with pytest.raises(BadHead) as caught:
        parse_head(head)
    assert caught.value.status == status


def test_a_proxys_absolute_target_wins_over_the_host_header() -> None:
    got = parse_head(b"GET http://me@H1.lab:81/p/2?x=1 HTTP/1.1\r\nHost: other.lab")
    assert (got.host, got.port, got.target, got.path) == ("h1.lab", "81", "/p/2?x=1", "/p/2")
