"""A URL's canonical form, its host, and the fingerprint that dedup goes by.

Two spellings of one address have one fingerprint: w3lib's canonical form, with default ports, the
host's trailing dot and the fragment gone, and international names in their ASCII form. Most URLs
met in a crawl are canonical already, and a pattern that knows them saves nine tenths of the work.
What is no usable URL is refused with a reason that says what to do.
"""

from __future__ import annotations

import contextlib
import re
from functools import cache, lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import idna
from w3lib.url import canonicalize_url

from skitter.errors import BadRequest

if TYPE_CHECKING:
    from tldextract import TLDExtract

START = "start:"
START_HOST = "~"

_PLAIN = re.compile(
    r"(https?)://([a-z0-9.-]+)(?::([1-9][0-9]{0,4}))?"
    r"/[A-Za-z0-9/._~-]*(?:\?[A-Za-z0-9_.~-]+=[A-Za-z0-9_.~-]+)?"
)
_ANY = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^#]*)", re.DOTALL)
_NOT_IN_URLS = re.compile(r"[\x00-\x20\x7f]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_PORTS = {"http": "80", "https": "443"}
# Without one, an HTTP client is loaded and a session made, to ask nobody anything.
_NO_SESSION: Any = object()


class Address(NamedTuple):
    """A canonical URL and the host, without port, that it is asked of."""

    url: str
    host: str


@lru_cache(maxsize=65536)
def registered_domain(host: str) -> str:
    """The part of a host name that was registered: `shop.example.co.uk` → `example.co.uk`.

    A last label that no list knows (`test`, `internal`) counts as a suffix, as publicsuffix.org
    has it: `www.shop.test` → `shop.test`. An address stands for itself.
    """
    found = _suffixes()(host, session=_NO_SESSION)
    if found.suffix or found.ipv4 or found.ipv6:
        return found.top_domain_under_public_suffix or host
    return ".".join(host.split(".")[-2:])


@cache
def _suffixes() -> TLDExtract:
    """The list that is part of the package. It takes long to load, hence not at the start."""
    import tldextract  # noqa: PLC0415 - see above

    return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)


@lru_cache(maxsize=8192)
def parse(url: str, *, max_bytes: int = 8192) -> Address:
    """A URL's canonical form and host; raises BadRequest where it is not to be fetched.

    Pages of a site link to the same ones again and again, hence the cache.
    """
    plain = _PLAIN.fullmatch(url)
    if plain and len(url) <= max_bytes and "/." not in url:  # dot segments are resolved below
        scheme, host, port = plain.groups()
        with contextlib.suppress(ValueError):  # what is wrong with the host is said below
            if _host(host) == host and (not port or _is_needed(port, scheme)):
                return Address(url, host)
    if len(url) > max_bytes or len(url.encode("utf-8", "replace")) > max_bytes:
        raise BadRequest(url=_excerpt(url), reason=f"it is longer than {max_bytes} bytes")
    return _parse_any(url.strip())


def _is_needed(port: str, scheme: str) -> bool:
    return port != _PORTS[scheme] and int(port) < 65536


def fingerprint(url: str, *, method: str = "GET", body: bytes = b"") -> int:
    """64 bits, signed, of a canonical URL; of method and body too unless it is a plain GET."""
    data = url.encode()
    if body or method != "GET":
        data = b"\0".join((method.encode(), data, body))
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little", signed=True)


def _parse_any(url: str) -> Address:
    if not url.isascii() and _SURROGATES.search(url):
        raise BadRequest(url=_excerpt(ascii(url)), reason="it has half of a character in it")
    if _NOT_IN_URLS.search(url):
        raise BadRequest(url=_excerpt(url), reason="it has blanks or control characters in it")
    parts = _ANY.match(url)
    if not parts:
        raise BadRequest(
            url=_excerpt(url), reason="it is no absolute URL such as https://example.com/"
        )
    scheme, authority, rest = parts[1].lower(), parts[2], parts[3]
    if scheme not in _PORTS:
        raise BadRequest(url=_excerpt(url), reason=f"{scheme} is not http or https")
    if "@" in authority:
        raise BadRequest(
            url=_excerpt(url.replace(authority, "…@" + authority.rpartition("@")[2])),
            reason="it carries a user name or password; send an Authorization header instead",
        )
    host, port = _split_port(url, authority)
    netloc = host if port in ("", _PORTS[scheme]) else f"{host}:{port}"
    return Address(_canonical(f"{scheme}://{netloc}{rest}", url), host)


def _canonical(clean: str, url: str) -> str:
    try:
        return str(canonicalize_url(clean))
    except (ValueError, UnicodeError) as error:
        raise BadRequest(url=_excerpt(url), reason=str(error)) from error


def _split_port(url: str, authority: str) -> tuple[str, str]:
    name, colon, port = authority.rpartition(":")
    if not colon or authority.endswith("]"):
        name, port = authority, ""
    if port and not (port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65536):
        raise BadRequest(url=_excerpt(url), reason=f"{port} is no port")
    try:
        return _host(name), str(int(port)) if port else ""
    except (ValueError, UnicodeError) as error:
        raise BadRequest(url=_excerpt(url), reason=f"its host is not usable: {error}") from error


@lru_cache(maxsize=65536)
def _host(name: str) -> str:
    """The ASCII form of a host name; an address in brackets stays as it is."""
    name = name.lower().rstrip(".")
    if name.startswith("[") and re.fullmatch(r"\[[0-9a-f:.]+\]", name):
        return name
    if not name:
        raise ValueError("it is empty")
    if not name.isascii():
        name = idna.encode(name, uts46=True).decode()
    if (
        len(name) > 253
        or not re.fullmatch(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?", name)
        or ".." in name
    ):
        raise ValueError(f"{name[:80]!r} is no host name")
    return name


def _excerpt(url: str) -> str:
    return url if len(url) <= 200 else f"{url[:200]}… ({len(url)} characters)"
