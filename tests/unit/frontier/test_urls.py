from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from w3lib.url import canonicalize_url

from skitter.errors import BadRequest
from skitter.frontier.urls import fingerprint, parse, registered_domain

hosts = st.sampled_from(
    ["example.com", "a.b.example.co.uk", "localhost", "127.0.0.1", "xn--4ca.de"]
)
plain_paths = st.text(string.ascii_letters + string.digits + "/._~-", max_size=30)
plain_words = st.text(string.ascii_letters + string.digits + "_.~-", min_size=1, max_size=8)
soup = st.text(st.sampled_from("ab/%2Ff?&=+;:@!$'()*,~#é日 |\\^{}[]<>\"`.-_01"), max_size=40)


@given(
    scheme=st.sampled_from(["http", "https"]),
    host=hosts,
    path=plain_paths,
    query=st.one_of(st.just(""), st.tuples(plain_words, plain_words).map("=".join)),
)
def test_short_way_gives_what_w3lib_gives(scheme: str, host: str, path: str, query: str) -> None:
    url = f"{scheme}://{host}/{path}" + (f"?{query}" if query else "")
    address = parse(url)
    assert address.url == canonicalize_url(url)
    assert address.host == host


@given(host=hosts, rest=soup)
def test_any_soup_is_canonical_once_and_for_all_or_refused(host: str, rest: str) -> None:
    try:
        address = parse(f"http://{host}/{rest}")
    except BadRequest:
        return
    assert address.host == host
    assert address.url.isascii()
    assert "#" not in address.url
    assert parse(address.url) == address


@given(st.text(max_size=60))
def test_no_text_makes_parse_fail_in_another_way(text: str) -> None:
    for url in (text, f"http://{text}", f"https://{text}/x", f"http://a.com/{text}"):
        try:
            parse(url)
        except BadRequest as error:
            assert str(error.reason)  # noqa: PT017 - both ends are fine


@pytest.mark.parametrize(
    ("url", "canonical", "host"),
    [
        ("HTTP://Example.COM", "http://example.com/", "example.com"),
        ("https://example.com:443/a", "https://example.com/a", "example.com"),
        ("http://example.com:80", "http://example.com/", "example.com"),
        ("http://example.com:443/", "http://example.com:443/", "example.com"),
        ("http://example.com:0080/", "http://example.com/", "example.com"),
        ("http://example.com./a", "http://example.com/a", "example.com"),
        ("http://example.com.:8080/", "http://example.com:8080/", "example.com"),
        ("http://ä.de/ü?ö=ä", "http://xn--4ca.de/%C3%BC?%C3%B6=%C3%A4", "xn--4ca.de"),
        ("http://MÜLLER.de/", "http://xn--mller-kva.de/", "xn--mller-kva.de"),
        ("http://例え。jp/", "http://xn--r8jz45g.jp/", "xn--r8jz45g.jp"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x", "[::1]"),
        ("  https://example.com/a \n", "https://example.com/a", "example.com"),
        ("https://example.com/a/./b/../c", "https://example.com/a/c", "example.com"),
        ("https://example.com/.well-known/x", "https://example.com/.well-known/x", "example.com"),
        ("https://example.com/a#b", "https://example.com/a", "example.com"),
        ("https://example.com/?b=2&a=1", "https://example.com/?a=1&b=2", "example.com"),
        ("http://example.com/%7euser/%zz%", "http://example.com/~user/%zz%", "example.com"),
        ("http://snake_case.a.com/", "http://snake_case.a.com/", "snake_case.a.com"),
    ],
)  # fmt: skip
def test_spellings_of_one_address_become_one(url: str, canonical: str, host: str) -> None:
    address = parse(url)
    assert tuple(address) == (canonical, host)
    assert parse(address.url) == address


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "no absolute URL"),
        ("/relative", "no absolute URL"),
        ("example.com/a", "no absolute URL"),
        ("ftp://example.com/", "ftp is not http or https"),
        ("javascript://alert(1)", "not http or https"),
        ("http://user:pw@example.com/", "user name or password"),
        ("http://example.com:0/", "no port"),
        ("http://example.com:65536/", "no port"),
        ("http://example.com:000065536/", ""),
        ("http://example.com:٨٠/", "no port"),
        ("http://example.com:a/", "no port"),
        ("http:///path", "host"),
        ("http://.../", "host"),
        ("http://a..b/", "host"),
        ("http://-a-/", "host"),
        ("http://a b/", "blanks"),
        ("http://a/\x00", "control"),
        ("http://[::1/", "host"),
        ("http://" + "a" * 254 + ".com/", "host"),
        ("http://ex%41mple.com/", "host"),
        ("http://a/" + "b" * 8192, "longer than 8192 bytes"),
        ("http://a/" + "é" * 4500, "longer than 8192 bytes"),
        ("http://a/\ud800", ""),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_with_a_reason(url: str, reason: str) -> None:
    with pytest.raises(BadRequest) as refused:
        parse(url)
    assert reason in refused.value.reason
    assert len(str(refused.value)) < 1000


def test_no_password_is_repeated_in_the_refusal() -> None:
    with pytest.raises(BadRequest) as refused:
        parse("http://user:hunter2@example.com/hunter")
    assert "hunter2" not in str(refused.value)


def test_method_and_body_count_in_the_fingerprint() -> None:
    url = "https://example.com/"
    marks = [
        fingerprint(url),
        fingerprint(url, method="POST"),
        fingerprint(url, method="POST", body=b"a"),
        fingerprint(url, body=b"a"),
        fingerprint(url + "a"),
    ]
    assert len(set(marks)) == len(marks)
    assert all(-(2**63) <= mark < 2**63 for mark in marks)
    assert fingerprint(url, method="GET", body=b"") == marks[0]


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("shop.example.co.uk", "example.co.uk"),
        ("example.com", "example.com"),
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("com", "com"),
        ("co.uk", "co.uk"),
        ("shop.test", "shop.test"),
        ("a.www.shop.test", "shop.test"),
        ("db.internal", "db.internal"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("10.1.2.3", "10.1.2.3"),
    ],
)
def test_registered_domain(host: str, domain: str) -> None:
    assert registered_domain(host) == domain
