"""URL patterns: `/p/*` for a path, `https://shop.example/*` for all of it, `re:…` for the rest."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import urldefrag, urlsplit

from pydantic import AfterValidator

MOST_STARS = 8


def _checked(text: str) -> str:
    compile_pattern(text)
    return text


def compile_pattern(text: str) -> re.Pattern[str]:
    """A pattern as a regular expression; raises ValueError with what is wrong."""
    if text.startswith("re:"):
        return compile_regex(text[3:])
    if not text.startswith(("/", "http://", "https://", "*")):
        raise ValueError("a pattern begins with /, http://, https://, * or re:")
    if text.count("*") > MOST_STARS:
        raise ValueError(f"it has more than {MOST_STARS} stars")
    return re.compile(re.escape(text).replace(r"\*", ".*"))


def compile_regex(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is no regular expression: {error}") from error


UrlPattern = Annotated[str, AfterValidator(_checked)]


class UrlPatterns:
    """Several patterns, of which one has to fit; none at all fit everything."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        self._patterns = [(text, compile_pattern(text)) for text in texts]

    def fit(self, url: str) -> bool:
        """Whether a URL is meant. A pattern that begins with / is about path and query."""
        bare = urldefrag(url).url
        return not self._patterns or any(_fits(text, one, bare) for text, one in self._patterns)


def _fits(text: str, pattern: re.Pattern[str], url: str) -> bool:
    if text.startswith("re:"):
        return pattern.search(url) is not None
    if text.startswith("/"):
        parts = urlsplit(url)
        path = parts.path or "/"
        return any(pattern.fullmatch(one) is not None for one in (path, f"{path}?{parts.query}"))
    return pattern.fullmatch(url) is not None


def in_domains(url: str, domains: tuple[str, ...]) -> bool:
    """Whether a URL's host is one of these, or below one; none at all take everything."""
    host = (urlsplit(url).hostname or "").lower()
    return not domains or any(host == one or host.endswith(f".{one}") for one in domains)
