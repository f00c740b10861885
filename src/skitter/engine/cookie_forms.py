"""Cookies as Python's cookie jar has them, and as the frontier keeps them."""

from __future__ import annotations

from http.cookiejar import Cookie as JarCookie
from typing import TYPE_CHECKING

from skitter.frontier import Cookie

if TYPE_CHECKING:
    from scrapy.http.cookies import CookieJar

Key = tuple[str, str, str]


def snapshot(jar: CookieJar) -> dict[Key, Cookie]:
    """All cookies of a jar, by domain, path and name."""
    return {(c.domain, c.path, c.name): _to_stored(c) for c in jar}


def changes(
    before: dict[Key, Cookie], after: dict[Key, Cookie]
) -> tuple[list[Cookie], list[Cookie]]:
    """What is new or other, and what is gone."""
    changed = [cookie for key, cookie in after.items() if before.get(key) != cookie]
    return changed, [cookie for key, cookie in before.items() if key not in after]


def from_stored(cookie: Cookie) -> JarCookie:
    """For a jar."""
    return JarCookie(
        version=0,
        name=cookie.name,
        value=cookie.value,
        port=None,
        port_specified=False,
        domain=cookie.domain,
        domain_specified=not cookie.host_only,
        domain_initial_dot=cookie.domain.startswith("."),
        path=cookie.path,
        path_specified=True,
        secure=cookie.secure,
        expires=int(cookie.expires_s) or None,
        discard=not cookie.expires_s,
        comment=None,
        comment_url=None,
        rest={},
    )


def _to_stored(cookie: JarCookie) -> Cookie:
    return Cookie(
        name=cookie.name,
        value=cookie.value,
        domain=cookie.domain,
        path=cookie.path,
        expires_s=float(cookie.expires or 0),
        secure=cookie.secure,
        host_only=not cookie.domain_specified,
    )
