"""Where proxies come from: the settings and files, which are read again when they change.

A proxy's name is made of its address and its user, so that all workers call it the same; the
password is no part of it, and a URL with a password is never shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from skitter.errors import BadProxies
from skitter.masking import mask_text
from skitter.settings.kinds import proxy_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

MOST_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy by its name; its repr shows no password."""

    name: str
    identity: str
    url: str = field(repr=False)

    @property
    def shown(self) -> str:
        """The URL as it may be seen."""
        return mask_text(self.url)


def make_proxy(text: str) -> Proxy:
    """A proxy from its text; raises ValueError with what is wrong, and without the password."""
    url = str(proxy_url(text))
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    identity = f"{parts.scheme}://{parts.username or ''}@{host}:{parts.port}"
    return Proxy(f"p-{blake2b(identity.encode(), digest_size=4).hexdigest()}", identity, url)


class ProxySource:
    """All proxies that the settings name, by their names."""

    def __init__(self, urls: Sequence[str], files: Sequence[Path]) -> None:
        self._urls = urls
        self._files = files
        self._stamps: list[tuple[int, int, int]] = []

    @property
    def wanted(self) -> bool:
        """Whether the settings ask for proxies at all."""
        return bool(self._urls or self._files)

    def changed(self) -> bool:
        """Whether a file is another than when all were last read."""
        return self._stamps != [_stamp(path) for path in self._files]

    def read(self) -> dict[str, Proxy]:
        """Read everything; raises BadProxies, which names each bad line."""
        self._stamps = [_stamp(path) for path in self._files]
        problems: list[str] = []
        found: dict[str, Proxy] = {}
        for place, text in self._lines(problems):
            try:
                _enter(found, make_proxy(text))
            except ValueError as error:
                problems.append(f"{place} is {mask_line(text)}: {error}")
        if self.wanted and not (found or problems):
            problems.append("there are none in the files that proxies.files names")
        if problems:
            raise BadProxies(problems=_join(problems))
        return found

    def _lines(self, problems: list[str]) -> Iterable[tuple[str, str]]:
        for number, text in enumerate(self._urls, 1):
            yield f"number {number} of proxies.urls", text
        for path in self._files:
            try:
                lines = path.read_text(encoding="utf-8").splitlines()
            except (OSError, UnicodeDecodeError) as error:
                problems.append(f"{path} cannot be read: {error}")
                continue
            for number, line in enumerate(lines, 1):
                if text := re.sub(r"(^|\s)#.*", "", line).strip():
                    yield f"{path}, line {number},", text


def mask_line(text: str) -> str:
    """A bad line fit to be shown: without all that may be a password, however it is written."""
    before, at, after = text.rpartition("@")
    if at:
        scheme, separator, _ = before.rpartition("://")
        return f"{scheme}{separator}***@{after}"
    return re.sub(r":(?!//)(?!\d+$).*", ":***", text)


def _enter(found: dict[str, Proxy], proxy: Proxy) -> None:
    known = found.get(proxy.name)
    if known and known.identity != proxy.identity:
        raise ValueError(f"its name {proxy.name} is by chance that of {known.shown}: leave one out")
    found[proxy.name] = proxy


def _join(problems: list[str]) -> str:
    more = len(problems) - MOST_PROBLEMS
    return "; ".join(problems[:MOST_PROBLEMS] + ([f"and {more} more"] if more > 0 else []))


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        stat = path.stat()
    except OSError:
        return 0, 0, 0
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
