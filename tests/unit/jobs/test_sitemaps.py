from __future__ import annotations

import gzip
import io
from contextlib import suppress

import pytest

from skitter.errors import SitemapError
from skitter.jobs import sitemaps
from skitter.jobs.sitemaps import Entry, read_sitemap

NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
IMAGES = "http://www.google.com/schemas/sitemap-image/1.1"
PAGES = f"""<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="{NAMESPACE}" xmlns:image="{IMAGES}">
  <!-- a comment -->
  <url><loc> https://x.example/a?b=1&amp;c=2 </loc><lastmod>2026-01-01</lastmod>
    <image:image><image:loc>https://x.example/i.png</image:loc></image:image></url>
  <url><loc><![CDATA[https://x.example/ü]]></loc></url>
  <url><loc></loc></url>
</urlset>"""


def read(data: bytes) -> list[Entry]:
    return [entry for group in read_sitemap(io.BytesIO(data), url="s") for entry in group]


def pages(*urls: str) -> list[Entry]:
    return [Entry(url, is_sitemap=False) for url in urls]


def test_pages() -> None:
    expected = pages("https://x.example/a?b=1&c=2", "https://x.example/ü")
    assert read(PAGES.encode()) == expected
    assert read(PAGES.encode("utf-8-sig")) == expected
    assert read(PAGES.replace("UTF-8", "UTF-16").encode("utf-16")) == expected
    assert read(PAGES.replace(f' xmlns="{NAMESPACE}"', "").encode()) == expected


def test_an_index() -> None:
    index = f'<sitemapindex xmlns="{NAMESPACE}"><sitemap><loc>a</loc></sitemap></sitemapindex>'
    assert read(index.encode()) == [Entry("a", is_sitemap=True)]


def test_plain_text() -> None:
    assert read(b"https://x.example/1\n\nhttps://x.example/2") == pages(
        "https://x.example/1", "https://x.example/2"
    )


def test_gzip_in_one_member_or_more() -> None:
    data = PAGES.encode()
    packed = gzip.compress(data[:100]) + gzip.compress(data[100:]) + b"\0" * 512
    assert read(packed) == read(gzip.compress(data)) == read(data)


def test_nothing() -> None:
    assert read(b"") == []


def many(count: int) -> bytes:
    entries = "".join(f"<url><loc>https://x.example/{n}</loc></url>" for n in range(count))
    return f"<urlset>{entries}</urlset>".encode()


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_big_one_comes_in_small_groups(pack: type[bytes]) -> None:
    groups = list(read_sitemap(io.BytesIO(pack(many(20_000))), url="s"))
    assert sum(map(len, groups)) == 20_000
    assert max(map(len, groups)) < 3000


BROKEN = {
    "html": (b"<html><body>Not found</body></html>", 0, "its first element is <html>"),
    "ampersand": (b"<urlset><url><loc>a</loc></url><url><loc>b & c", 1, "its XML is broken: not"),
    "cut": (many(5)[:-3], 5, "its XML is broken"),
    "entities": (b'<!DOCTYPE x [<!ENTITY a "aaaa">]><urlset/>', 0, "it declares entities"),
    "deep": (b"<urlset>" + b"<a>" * 100, 0, "its elements are nested too deeply"),
    "cut gzip": (gzip.compress(many(5))[:-8], 5, "its gzip is broken: it ends too early"),
    "no gzip": (b"\x1f\x8bxxxxxxxxxxxx", 0, "its gzip is broken"),
    "image": (b"\x89PNG\0\0\0", 0, "it is neither XML nor text"),
}


@pytest.mark.parametrize("kind", list(BROKEN))
def test_what_is_wrong_is_told_after_what_was_found(kind: str) -> None:
    data, found, reason = BROKEN[kind]
    with pytest.raises(SitemapError, match=reason):
        read(data)
    assert len(before_the_error(data)) == found


def before_the_error(data: bytes) -> list[Entry]:
    entries: list[Entry] = []
    with suppress(SitemapError):
        for group in read_sitemap(io.BytesIO(data), url="s"):
            entries += group
    return entries


def test_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "MAX_BYTES", 1 << 20)
    bomb = gzip.compress(b"<urlset>" + b" " * (64 << 20))
    with pytest.raises(SitemapError, match="longer than 1 MiB unpacked"):
        list(read_sitemap(io.BytesIO(bomb), url="s"))


def test_a_location_without_end_is_cut() -> None:
    entries = read(b"<urlset><url><loc>" + b"x" * 1_000_000 + b"</loc></url></urlset>")
    assert all(len(entry.url) <= sitemaps.LONGEST_URL for entry in entries)
