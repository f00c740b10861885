from __future__ import annotations

import json
import os
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from skitter.frontier import Request
from skitter.jobs import Defaults, Seed, seeds_of_file
from skitter.jobs.seed_files import Lines
from skitter.jobs.seeds import seed_of_line

DEFAULTS = Defaults(job="books", callback="parse_book", priority=3)


def seed(text: str) -> Seed:
    return seed_of_line(text, DEFAULTS, source="f", number=7)


async def read(path: Path, *, longest: int = 1000) -> list[Seed]:
    source = seeds_of_file(path, DEFAULTS, longest=longest, on_read=lambda _: None)
    async with aclosing(source) as groups:
        return [seed async for group in groups for seed in group]


def test_a_url_is_a_request_with_the_defaults() -> None:
    assert seed("https://x.example/").request == Request(
        "books", "https://x.example/", callback="parse_book", priority=3
    )


def test_an_object_says_all_that_a_request_has() -> None:
    fields: dict[str, Any] = {
        "url": "https://x.example/",
        "method": "post",
        "headers": {"Accept": "text/html", "X": ["1", "2"]},
        "body": "größe=1",
        "callback": "parse_other",
        "errback": "failed",
        "priority": -1,
        "depth": 2,
        "dont_filter": True,
        "meta": {"page": 1, "of": [None, 2.5]},
        "cb_kwargs": {"name": "x"},
    }
    expected = fields | {"method": "POST", "body": "größe=1".encode()}
    assert seed(json.dumps(fields)).request == Request("books", **expected)


def test_null_is_the_default() -> None:
    found = seed('{"url": "https://x.example/", "callback": null, "meta": null}').request
    assert found == Request("books", "https://x.example/", callback="parse_book", priority=3)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"url": "https://x.example/"', "it is not JSON: Expecting ',' delimiter"),
        ("{}", "it has no url"),
        ('{"url": 5}', "its url is not text"),
        ('{"url": "u", "priority": "1"}', "its priority is not a whole number"),
        ('{"url": "u", "priority": true}', "its priority is not a whole number"),
        ('{"url": "u", "dont_filter": 1}', "its dont_filter is not true or false"),
        ('{"url": "u", "meta": []}', "its meta is not an object"),
        ('{"url": "u", "headers": {"A": 1}}', "its header 'A' is neither text nor a list of texts"),
        ('{"url": "u", "prioritty": 1}', "'prioritty' is no field; did you mean 'priority'?"),
        ('{"url": "u", "zzz": 1}', "'zzz' is no field"),
        ('{"url": "u", "body": "\\ud800"}', "its body has half of a character in it"),
        ('{"url": "u", "meta": ' + "[" * 100_000, "it is not JSON that can be read"),
        ("start:", "it is no absolute URL such as https://example.com/"),
        ('{"url": "start:"}', "it is no absolute URL such as https://example.com/"),
    ],
)
def test_what_is_wrong_with_a_line_is_told(line: str, reason: str) -> None:
    found = seed(line)
    assert found.request is None
    assert found.reason == reason
    assert found.place == "f:7"


async def test_lines_keep_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "urls"
    lines = [
        b"\xef\xbb\xbfhttps://x.example/1\r",
        b"",
        b"# a comment",
        b"  https://x.example/4  ",
        b"https://x.example/\xff",
        b"y" * 200_000,
        b'{"url": "https://x.example/7"}',
        b"last without an end",
    ]
    path.write_bytes(b"\n".join(lines))
    found = await read(path)
    assert [(seed.number, seed.request and seed.request.url, seed.reason) for seed in found] == [
        (1, "https://x.example/1", ""),
        (4, "https://x.example/4", ""),
        (5, None, "the line is not UTF-8"),
        (6, None, "the line is too long"),
        (7, "https://x.example/7", ""),
        (8, "last without an end", ""),
    ]


@pytest.mark.parametrize("size", [1, 2, 7, 100])
def test_lines_are_the_same_however_they_come(size: int) -> None:
    text = b"a\nbb\n\n# c\nxxxxxxxxxxxxxxxxxxxx\nd\nyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
    lines = Lines(10)
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    found = [line for piece in pieces for line in lines.split(piece)] + list(lines.end())
    assert found == [(1, b"a"), (2, b"bb"), (5, None), (6, b"d"), (7, None)]


async def test_a_long_file_comes_in_small_groups(tmp_path: Path) -> None:
    path = tmp_path / "urls"
    path.write_text("".join(f"https://x.example/{n}\n" for n in range(200_000)))
    total = biggest = told = 0

    def count(size: int) -> None:
        nonlocal told
        told += size

    async for group in seeds_of_file(path, DEFAULTS, longest=1000, on_read=count):
        total += len(group)
        biggest = max(biggest, len(group))
    assert total == 200_000
    assert biggest < 5000
    assert told == path.stat().st_size


async def test_a_pipe_that_pauses_says_so(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    end = os.open(path, os.O_RDWR)
    os.write(end, b"https://x.example/1\n")
    source = seeds_of_file(path, DEFAULTS, longest=1000, on_read=lambda _: None)
    async with aclosing(source) as groups:
        first, pause = await anext(groups), await anext(groups)
    os.close(end)
    assert len(first) == 1
    assert pause == []


async def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        (found,) = [seed for seed in await read(path) if seed.reason]
        assert found.reason.startswith("it cannot be read: ")
        assert found.place == str(path)
