"""Every script says what it takes and gives, and none walks the keyspace."""

from __future__ import annotations

import re
from hashlib import sha1
from importlib.resources import files

import pytest

from skitter.frontier.scripts import script

LUA = files("skitter.frontier") / "lua"
NAMES = sorted(
    entry.name.removesuffix(".lua") for entry in LUA.iterdir() if entry.name.endswith(".lua")
)
PARTS = sorted(entry.name for entry in (LUA / "include").iterdir())
# Scripts that walk one sorted set of their shard, a slice at a time.
WALKS = {"sweep": {"ZSCAN"}, "sweep_delayed": {"ZSCAN"}}
FORBIDDEN = re.compile(
    r"""call\(\s*['"](KEYS|SCAN|SSCAN|HSCAN|ZSCAN|FLUSH\w*|RANDOMKEY|EVAL\w*)['"]""", re.IGNORECASE
)


def header(name: str) -> str:
    source = (LUA / f"{name}.lua").read_text(encoding="utf-8")
    return re.match(r"(?:(?:#!|--).*\n)*", source)[0]  # type: ignore[index]


@pytest.mark.parametrize("name", NAMES)
def test_a_header_names_keys_arguments_and_reply(name: str) -> None:
    lines = header(name).splitlines()
    assert re.fullmatch(r"#!lua( flags=(allow-oom|no-writes))?", lines[0])
    text = "\n".join(lines)
    assert "-- KEYS[1]" in text
    assert "-- Returns " in text
    described = {int(n) for n in re.findall(r"^-- ARGV\[(\d+)", text, re.MULTILINE)}
    for first, last in re.findall(r"^-- ARGV\[(\d+)\.\.(\d+)\]", text, re.MULTILINE):
        described |= set(range(int(first), int(last) + 1))
    used = {int(n) for n in re.findall(r"(?<!-- )ARGV\[(\d+)\]", script(name).text)}
    assert used <= described, f"not described: {sorted(used - described)}"


@pytest.mark.parametrize("name", NAMES)
def test_includes_resolve_and_no_script_walks_the_keyspace(name: str) -> None:
    found = script(name)
    assert "@include" not in found.text
    assert found.text.startswith("#!lua")
    assert found.text.count("#!lua") == 1
    assert found.sha == sha1(found.text.encode(), usedforsecurity=False).hexdigest()
    assert {verb.upper() for verb in FORBIDDEN.findall(found.text)} == WALKS.get(name, set())


def test_every_shared_part_is_used() -> None:
    used = {
        f"{part}.lua"
        for name in NAMES
        for line in re.findall(r"^-- @include (.+)$", header(name), re.MULTILINE)
        for part in line.split()
    }
    assert used == set(PARTS)


@pytest.mark.parametrize("name", ["settle", "release", "renew", "reap", "fetched"])
def test_work_in_hand_is_ended_on_a_full_server_too(name: str) -> None:
    assert header(name).startswith("#!lua flags=allow-oom\n")
