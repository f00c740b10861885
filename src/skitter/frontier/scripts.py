"""The Lua scripts: one operation a file, with the parts that several share put in by name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha1
from importlib.resources import files

_INCLUDE = re.compile(r"^-- @include (.+)\n", re.MULTILINE)


@dataclass(frozen=True)
class Script:
    """A script's whole text, and the digest by which a server knows it."""

    name: str
    text: str
    sha: str


@lru_cache(maxsize=128)
def script(name: str) -> Script:
    """The script of that name, its shared parts put in behind the line that names its flags."""
    source = _read(f"{name}.lua")
    flags, _, body = source.partition("\n")
    includes = _INCLUDE.search(body)
    parts = [_read(f"include/{part}.lua") for part in (includes[1].split() if includes else ())]
    text = "\n".join([flags, *parts, _INCLUDE.sub("", body)])
    # Redis names scripts by SHA-1; nothing secret hangs on it.
    return Script(name, text, sha1(text.encode(), usedforsecurity=False).hexdigest())


@cache
def _read(name: str) -> str:
    return (files("skitter.frontier") / "lua" / name).read_text(encoding="utf-8")
