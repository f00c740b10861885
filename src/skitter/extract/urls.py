"""Links as pages write them → absolute URLs that can be fetched."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import urldefrag, urljoin, urlsplit

from w3lib.url import safe_url_string

from skitter.extract.characters import visible
from skitter.extract.cleaned import Cleaned, Doubt, Refused

LONGEST_URL = 8192
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_BREAKS = re.compile(r"[\t\r\n]+")


def clean_url(raw: str, base: str = "") -> Cleaned[str] | Refused:
    """An absolute http or https URL, without its fragment. base is that of the page."""
    try:
        return Cleaned(_absolute(raw, base), raw)
    except Doubt as doubt:
        return Refused(raw[:LONGEST_URL], str(doubt))


@lru_cache(maxsize=8192)
def _absolute(raw: str, base: str) -> str:
    """Pages link to the same places again and again, hence the cache."""
    if len(raw) > LONGEST_URL:
        raise Doubt(f"it is longer than {LONGEST_URL} characters")
    text = visible(_BREAKS.sub("", raw)).strip()
    if not text or text.startswith("#"):
        raise Doubt("it leads nowhere")
    scheme = _SCHEME.match(text)
    if scheme and scheme[1].lower() not in ("http", "https"):
        raise Doubt(f"{scheme[1]} is not http or https")
    try:
        url = urldefrag(urljoin(base, text)).url
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        raise Doubt("it is no URL") from None
    if not good:
        raise Doubt("it is relative, and no base is known")
    return safe_url_string(url)
