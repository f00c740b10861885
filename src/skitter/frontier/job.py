"""What a job is: a spider with arguments, and the bounds of what it may ask.

The scope is checked where requests are made, before they cross the network; the limits that all
workers share are kept by the shards.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal

import ormsgpack

from skitter.frontier.urls import registered_domain

State = Literal["queued", "running", "paused", "ended"]
Outcome = Literal[
    "", "finished", "failed", "cancelled", "expired", "limit reached", "quality failed"
]


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Which URLs belong to a job: all, unless told otherwise."""

    allowed_domains: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    deny_extensions: tuple[str, ...] = ()

    def refuses(self, url: str, host: str) -> str:
        """Why a URL is out of scope, or an empty text."""
        if self.allowed_domains and not self._domain_fits(host):
            return "domain"
        if self._extension and self._extension.search(url):
            return "extension"
        if self._deny and self._deny.search(url):
            return "denied"
        if self._allow and not self._allow.search(url):
            return "not allowed"
        return ""

    def _domain_fits(self, host: str) -> bool:
        return any(host == domain or host.endswith("." + domain) for domain in self.allowed_domains)

    @cached_property
    def _allow(self) -> re.Pattern[str] | None:
        return re.compile("|".join(f"(?:{p})" for p in self.allow)) if self.allow else None

    @cached_property
    def _deny(self) -> re.Pattern[str] | None:
        return re.compile("|".join(f"(?:{p})" for p in self.deny)) if self.deny else None

    @cached_property
    def _extension(self) -> re.Pattern[str] | None:
        if not self.deny_extensions:
            return None
        endings = "|".join(re.escape(e.lstrip(".")) for e in self.deny_extensions)
        return re.compile(rf"^[^?]*\.(?:{endings})(?:$|\?)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Job:
    """One crawl.

    max_pages bounds the responses given to the spider, exactly, over all workers; max_per_host the
    requests accepted for one host. dedup names a set of seen URLs that outlives the job and is
    shared by all jobs that name it. delay_s, concurrency and robots override the politeness
    settings for the hosts of this job, where no host policy of its own says otherwise. sinks say
    where its items go, if not where the worker's settings say. project and labels are for people;
    gates and on_end are seen to when it has ended; unique is what no other live job may share;
    seeds is how many it was submitted with.
    """

    id: str
    spider: str
    args: dict[str, str] = field(default_factory=dict)
    scope: Scope = field(default_factory=Scope)
    priority: int = 0
    max_pages: int | None = None
    max_depth: int | None = None
    max_per_host: int | None = None
    expires_s: float | None = None
    delay_s: float | None = None
    concurrency: int | None = None
    robots: bool = True
    dedup: str | None = None
    attrs: dict[str, Any] = field(default_factory=dict)
    project: str = "default"
    labels: dict[str, str] = field(default_factory=dict)
    sinks: tuple[str, ...] = ()
    gates: dict[str, Any] | str = field(default_factory=dict)
    on_end: tuple[dict[str, Any], ...] = ()
    unique: str = ""
    seeds: int = 0

    @cached_property
    def lane(self) -> str:
        """Eight characters for spider and arguments: jobs with equal ones share a crawler."""
        return lane_of(self.spider, self.args)

    def dumps(self) -> bytes:
        """The job as msgpack."""
        return ormsgpack.packb(asdict(self))

    @classmethod
    def loads(cls, data: bytes) -> Job:
        """The job that `dumps` wrote."""
        fields = ormsgpack.unpackb(data)
        fields["scope"] = Scope(**{name: tuple(value) for name, value in fields["scope"].items()})
        for name in ("sinks", "on_end"):
            fields[name] = tuple(fields.get(name, ()))
        return cls(**fields)

    def refuses(self, url: str, *, host: str, depth: int) -> str:
        """Why this job does not take a URL, or an empty text."""
        if self.max_depth is not None and depth > self.max_depth:
            return "depth"
        return self.scope.refuses(url, host)


def lane_of(spider: str, args: dict[str, str] | None = None) -> str:
    """The lane of a spider with its arguments."""
    data = ormsgpack.packb([spider, sorted((args or {}).items())])
    return urlsafe_b64encode(blake2b(data, digest_size=6).digest()).decode()


def politeness_unit(host: str, unit: str) -> str:
    """What a clock is kept for: the host, or by setting its registered domain."""
    return registered_domain(host) if unit == "domain" else host
