"""Settings of who asks: user agents and headers, and the addresses that requests leave by."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from skitter.settings.kinds import Bytes, Paths, Patterns, ProxyUrls, Seconds, Statuses
from skitter.settings.section import Section


class IdentitySettings(Section):
    """Which user agent and headers a request carries. By default it names itself, always."""

    file: Path | None = None
    """A YAML or JSON file with sets of a user agent and the headers that belong to it, in their
    order; requests take them in turn. Without it, `fetch.user_agent` alone."""
    sticky: bool = False
    """Whether a host sees the same set each time, from all workers (by exit address, where there
    are several)."""


class ProxySettings(Section):
    """Proxies to fetch through. Each has a pace of its own at every host."""

    urls: ProxyUrls = ()
    """Proxies, as `scheme://user:password@host:port` or `host:port`; schemes are `http`, `https`,
    `socks5` and `socks5h` (names are looked up by the proxy)."""
    files: Paths = ()
    """Files with one proxy on each line, and `#` before comments; read again when they change."""
    rotation: Literal["spread", "sticky"] = "spread"
    """`spread`: a host is asked through all proxies, at its pace through each. `sticky`: a host
    is asked through one, the same from all workers, while that one can be used."""
    direct: bool = False
    """Whether pages are fetched without a proxy while none can be used; else they wait."""
    ban_statuses: Statuses = (403, 429)
    """The HTTP statuses by which a host says that it does not want this proxy. 407 always counts
    against the proxy as a whole."""
    ban_patterns: Patterns = ()
    """Regular expressions that a body shows when its host does not want this proxy."""
    ban_body_bytes: Bytes = Field(8192, validate_default=True)
    """How much of a body is searched for them."""
    fails_before_cooldown: int = Field(3, ge=1, le=10)
    """After how many failures in a row a proxy is left alone, or after how many bans in a row at
    one host it is left alone there."""
    cooldown_s: Seconds = 60
    """For how long; twice as long each time that a proxy fails again when it is tried anew."""
    max_cooldown_s: Seconds = 1800
    """The longest that it is left alone before it is tried with one request."""
    trial_s: Seconds = 30
    """How long to wait for that request before another one is tried."""
    max_moves: int = Field(5, ge=0)
    """How often a request whose answer is in doubt moves on to another proxy, before the answer
    counts as the site's own."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.cooldown_s > self.max_cooldown_s:
            raise ValueError("cooldown_s should not be longer than max_cooldown_s")
        return self
