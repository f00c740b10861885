from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skitter.errors import BadReply, BadRequest
from skitter.frontier import Request
from skitter.frontier.request import pack, unpack
from skitter.frontier.urls import START, START_HOST, parse

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | texts
    | st.binary(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
requests = st.builds(
    Request,
    job=st.just("j"),
    url=st.sampled_from(
        [
            "https://example.com/",
            "http://example.com/a/b?c=d",
            "https://example.com:8443/x",
            "http://www.example.com/",
            "https://other.org/example.com/",
        ]
    ),
    method=st.sampled_from(["GET", "POST", "HEAD"]),
    headers=st.dictionaries(texts, texts | st.lists(texts, max_size=2), max_size=2),
    body=st.binary(max_size=20),
    callback=texts,
    errback=texts,
    depth=st.integers(0, 1000),
    priority=st.integers(-1000, 1000),
    dont_filter=st.booleans(),
    meta=st.dictionaries(texts, values, max_size=3),
    cb_kwargs=st.dictionaries(texts, values, max_size=2),
)


@given(request=requests, host=st.sampled_from(["example.com", "www.example.com", "other.org"]))
def test_what_is_packed_comes_back(request: Request, host: str) -> None:
    entry = pack(request, url=request.url, host=host)
    assert unpack(entry, job="j", host=host, priority=request.priority) == request


@given(attempts=st.integers(0, 255), crashes=st.integers(0, 255))
def test_first_two_bytes_count_attempts_and_crashes(attempts: int, crashes: int) -> None:
    entry = pack(Request("j", "https://a.com/"), url="https://a.com/", host="a.com")
    assert entry[:2] == b"\0\0"
    read = unpack(bytes([attempts, crashes]) + entry[2:], job="j", host="a.com", priority=0)
    assert (read.attempts, read.crashes) == (attempts, crashes)


def test_plain_get_is_its_path_and_a_few_bytes() -> None:
    address = parse("https://www.example.com/some/page.html")
    entry = pack(Request("j", address.url), url=address.url, host=address.host)
    assert len(entry) <= len("/some/page.html") + 5


def test_start_request_comes_back() -> None:
    request = Request.start("j")
    entry = pack(request, url=START, host=START_HOST)
    assert unpack(entry, job="j", host=START_HOST, priority=0) == request


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("meta", {"o": object()}),
        ("meta", {1: 2}),
        ("meta", {"n": 2**70}),
        ("cb_kwargs", {"s": {1, 2}}),
        ("callback", "\ud800"),
    ],
)
def test_what_cannot_be_stored_is_refused_by_its_name(field: str, value: Any) -> None:
    request = Request("j", "https://a.com/", **{field: value})
    with pytest.raises(BadRequest) as refused:
        pack(request, url=request.url, host="a.com")
    assert field in refused.value.reason


@given(st.binary(max_size=40))
def test_any_bytes_are_a_request_or_a_bad_reply(entry: bytes) -> None:
    try:
        request = unpack(entry, job="j", host="a.com", priority=0)
    except BadReply:
        return
    assert isinstance(request, Request)
