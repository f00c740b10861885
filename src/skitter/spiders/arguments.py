"""Spider arguments, which all come as text: lists of URLs, numbers, yes and no."""

from __future__ import annotations

from urllib.parse import urlsplit

from skitter.errors import BadArgument

_YES = frozenset({"1", "yes", "true", "on"})
_NO = frozenset({"", "0", "no", "false", "off"})


def read_urls(*texts: str) -> list[str]:
    """The URLs in these texts, between spaces or commas that a URL follows; each once."""
    parts = [part for text in texts for part in text.replace(",http", " http").split()]
    for part in parts:
        if urlsplit(part).scheme not in ("http", "https") or not urlsplit(part).hostname:
            raise BadArgument(name="url", value=part, problem="is no http or https address")
    return list(dict.fromkeys(parts))


def read_flag(name: str, value: object) -> bool:
    """Whether it was asked for."""
    text = str(value).strip().lower()
    if text not in _YES | _NO:
        raise BadArgument(name=name, value=value, problem="is neither yes nor no")
    return text in _YES


def read_count(name: str, value: object, *, most: int = 1_000_000_000) -> int:
    """A number from 0."""
    text = str(value).strip()
    if not (text.isascii() and text.isdigit()) or len(text) > 12 or int(text) > most:
        raise BadArgument(name=name, value=value, problem=f"is no number from 0 to {most}")
    return int(text)


def hosts_of(urls: list[str]) -> list[str]:
    """The domains that a crawl from these URLs stays on: their hosts, with or without www."""
    hosts = [(urlsplit(url).hostname or "").removeprefix("www.") for url in urls]
    return list(dict.fromkeys(hosts))
