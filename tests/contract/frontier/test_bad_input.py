"""Bad input: a clear reason for that one request, the rest of the batch unharmed, nothing lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ormsgpack

from skitter.frontier import Request
from tests.contract.frontier.crawl import pages

if TYPE_CHECKING:
    from tests.contract.frontier.crawl import Crawl

DEEP: list[Any] = []
for _ in range(2000):
    DEEP = [DEEP]

REFUSED = {
    "": "no absolute URL",
    "   ": "no absolute URL",
    "not a url": "blanks",
    "/relative": "no absolute URL",
    "//host/path": "no absolute URL",
    "https://": "empty",
    "https:///path": "empty",
    "https://a..com/": "no host name",
    "https://-/": "no host name",
    "https://a b.com/": "blanks",
    "https://" + "a" * 300 + ".com/": "no host name",
    "https://a.com/" + "x" * 2_000_000: "longer than 8192 bytes",
    "ftp://a.com/file": "not http or https",
    "javascript://a.com/%0aalert(1)": "not http or https",
    "mailto:me@a.com": "no absolute URL",
    "data:text/html,hi": "no absolute URL",
    "https://user:secret@a.com/": "user name or password",
    "https://user@a.com/": "user name or password",
    "https://a.com:0/": "no port",
    "https://a.com:65536/": "no port",
    "https://a.com:99999999999999999999/": "no port",
    "https://a.com:http/": "no port",
    "https://a.com/\x00": "control characters",
    "https://a.com/\x07bell": "control characters",
    "https://a.com/line\nbreak": "control characters",
    "https://\ud800.com/": "",
    "https://a.com/\ud800": "",
    "https://a.com/?q=\udfff": "",
    "https://xn--\u0080.com/": "",
}


async def test_a_bad_url_is_refused_with_its_reason_and_the_others_are_not(crawl: Crawl) -> None:
    await crawl.job()
    mixed = [url for n, bad in enumerate(REFUSED) for url in (bad, f"https://good{n}.com/")]
    added = await crawl.add(*mixed)
    assert added.results[1::2] == ["new"] * len(REFUSED)
    wrong = {
        ascii(bad)[:60]: result
        for (bad, reason), result in zip(REFUSED.items(), added.results[::2], strict=True)
        if result in ("new", "known", "") or reason not in result
    }
    assert wrong == {}
    assert not any("secret" in result or len(result) > 500 for result in added.results)
    assert len(await crawl.lease()) == len(REFUSED)


async def test_odd_but_usable_urls_are_taken_and_come_back_usable(crawl: Crawl) -> None:
    await crawl.job()
    odd = {
        "http://a.com:8080": "http://a.com:8080/",
        "https://bücher.example/straße": "https://xn--bcher-kva.example/stra%C3%9Fe",
        "https://a.com/%zz%%%41?%=%&a=%26": None,
        "https://[2001:db8::1]:8443/x": "https://[2001:db8::1]:8443/x",
        "http://127.0.0.1/": "http://127.0.0.1/",
        "https://a_b.example.com/": "https://a_b.example.com/",
        "https://a.com/" + "x" * 8000: "https://a.com/" + "x" * 8000,
        "https://a.com/\U0001f577?q=日本": "https://a.com/%F0%9F%95%B7?q=%E6%97%A5%E6%9C%AC",
        "https://a.com/a:b@c": "https://a.com/a:b@c",
    }
    assert (await crawl.add(*odd)).results == ["new"] * len(odd)
    leased = set(await crawl.lease_urls())
    assert len(leased) == len(odd)
    assert {url for url in odd.values() if url} <= leased
    assert (await crawl.add(*leased)).known == len(odd)


UNSTORABLE: list[dict[str, Any]] = [
    {"meta": {"x": object()}},
    {"meta": {"x": {1, 2}}},
    {"meta": {"x": 2**70}},
    {"meta": {1: "x"}},
    {"meta": {"x": "\ud800"}},
    {"meta": {"x": DEEP}},
    {"cb_kwargs": {"f": print}},
    {"headers": {"H": Request}},
    {"body": b"x" * 300_000},
    {"body": 7},
    {"callback": object()},
    {"depth": "deep"},
    {"depth": 2**70},
    {"priority": None},
    {"priority": "high"},
    {"priority": 1.5},
    {"priority": 2**60},
    {"method": None},
    {"method": "GET\ud800"},
    {"url": None},
    {"url": b"https://a.com/"},
    {"url": 7},
]


async def test_a_request_that_cannot_be_stored_is_refused_alone(crawl: Crawl) -> None:
    await crawl.job()
    requests: list[Request] = []
    for n, fields in enumerate(UNSTORABLE):
        bad: dict[str, Any] = {"job": "j", "url": f"https://a.com/{n}"} | fields
        requests += [Request(**bad), Request("j", f"https://good{n}.com/")]
    added = await crawl.frontier.add(requests)
    assert added.results[1::2] == ["new"] * len(UNSTORABLE)
    taken = [n for n, result in enumerate(added.results[::2]) if result in ("new", "known", "")]
    assert [list(UNSTORABLE[n]) for n in taken] == []
    assert len(await crawl.lease()) == len(UNSTORABLE)


GARBAGE = {
    "nothing": b"",
    "one byte": b"x",
    "counts alone": b"\0\0",
    "no msgpack": b"\0\0\xc1\xc1\xc1",
    "cut off": b"\0\0\x93\xa5/page",
    "a number": b"\0\0" + ormsgpack.packb(5),
    "a text": b"\0\0" + ormsgpack.packb("x"),
    "a dictionary": b"\0\0" + ormsgpack.packb({"a": 1}),
    "an empty list": b"\0\0" + ormsgpack.packb([]),
    "no path": b"\0\0" + ormsgpack.packb([None]),
    "unknown extras": b"\0\0" + ormsgpack.packb(["/x", 0, {"99": 1}]),
    "extras of a wrong kind": b"\0\0" + ormsgpack.packb(["/x", 0, [1]]),
    "random": bytes(range(255, 0, -1)),
}


async def test_a_corrupt_entry_is_buried_and_the_rest_of_the_batch_unharmed(crawl: Crawl) -> None:
    await crawl.job(held=True)
    no = (await crawl.frontier.jobs.record("j")).no
    good = []
    for n, entry in enumerate(GARBAGE.values()):
        host = f"www.site{n}.com"
        await crawl.add(*pages(host, 3))
        await crawl.raw("LSET", crawl.key(host, f"q:{host}:{no}:0"), 1, entry)
        good += [f"https://{host}/0", f"https://{host}/2"]
    leased: list[str] = []
    for _ in GARBAGE:  # one that looks like a killer of workers is leased alone
        leased += await crawl.lease_urls()
    assert sorted(leased) == sorted(good)
    stats = await crawl.frontier.stats.job("j")
    assert (stats.buried, stats.leased, stats.queued) == (len(GARBAGE), len(good), 0)
    letters = await crawl.frontier.dead.find(job="j")
    assert {(letter.reason, letter.request) for letter in letters} == {("unreadable", None)}
    assert len({letter.host for letter in letters}) == len(GARBAGE)
    assert all(letter.error for letter in letters)
    await crawl.counts_are_right()
