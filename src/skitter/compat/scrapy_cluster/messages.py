"""Scrapy Cluster's messages. Its limits are relaxed, null is the default, other fields are kept.

What it checks and we check too: the fields that a message cannot be without, and their types. An
id may be longer, a depth and a priority greater; what has no meaning here is left alone.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

Text = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
Texts = Annotated[tuple[Annotated[str, Field(max_length=2_000)], ...], Field(max_length=1_000)]
HOST = r"^[^\s/?#@:\x00-\x1f]{1,253}$"


def _with_scheme(url: str) -> str:
    """As Scrapy Cluster has it, an address without a scheme is one of http."""
    url = url.strip()
    full = url if "://" in url else f"http://{url}"
    if not urlsplit(full).hostname:
        raise ValueError("it names no host")
    return full


def _patterns(texts: tuple[str, ...]) -> tuple[str, ...]:
    for text in texts:
        try:
            re.compile(text)
        except re.error as error:
            raise ValueError(f"{text[:80]!r} is not a regular expression: {error}") from error
    return texts


Regexes = Annotated[Texts, AfterValidator(_patterns)]
Url = Annotated[str, Field(min_length=1, max_length=8_192), AfterValidator(_with_scheme)]


class Message(BaseModel):
    """What they all have."""

    model_config = ConfigDict(extra="allow", frozen=True)

    appid: Text

    @model_validator(mode="before")
    @classmethod
    def _null_is_default(cls, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: each for name, each in value.items() if each is not None}
        return value


class Crawl(Message):
    """A crawl request: one URL, and how far to go from it."""

    url: Url
    crawlid: Text
    spiderid: Text = "link"
    priority: int = Field(1, ge=-1_000_000, le=1_000_000)
    maxdepth: int = Field(0, ge=0, le=1_000_000)
    domain_max_pages: int | None = Field(None, ge=0)
    allowed_domains: Texts = ()
    allow_regex: Regexes = ()
    deny_regex: Regexes = ()
    deny_extensions: Texts | None = None
    expires: float = Field(0, ge=0, lt=1e11, allow_inf_nan=False)
    useragent: Annotated[str, Field(max_length=1_000)] | None = None
    cookie: Annotated[str, Field(max_length=8_192)] | None = None
    attrs: dict[str, Any] = Field(default_factory=dict)


class Action(Message):
    """A question about a crawl, or about all of an app's; or a crawl's end."""

    action: Literal["info", "stop", "expire"]
    uuid: Text
    spiderid: Text
    crawlid: Text | None = None

    @model_validator(mode="after")
    def _stop_names_a_crawl(self) -> Action:
        if self.action != "info" and self.crawlid is None:
            raise ValueError(f"{self.action} needs a crawlid")
        return self


Which = Literal[
    "all", "kafka-monitor", "redis-monitor", "crawler", "spider", "machine", "queue", "rest"
]


class Stats(Message):
    """A question about the cluster."""

    uuid: Text
    stats: Which = "all"


class Domain(Message):
    """A pace for a domain, or a ban."""

    uuid: Text
    action: Literal["domain-update", "domain-remove", "blacklist-update", "blacklist-remove"]
    domain: Annotated[str, Field(pattern=HOST), BeforeValidator(lambda v: str(v).strip().lower())]
    hits: int | None = Field(None, ge=1, le=1_000_000)
    window: int | None = Field(None, ge=1, le=604_800)
    scale: float = Field(1.0, gt=0, le=1)

    @model_validator(mode="after")
    def _update_has_a_pace(self) -> Domain:
        if self.action == "domain-update" and (self.hits is None or self.window is None):
            raise ValueError("domain-update needs both hits and window")
        return self

    @property
    def delay_ms(self) -> int:
        """The time between two requests that keeps to so many hits in the window."""
        hits, window = self.hits or 1, self.window or 0
        return round(1000 * window / (hits * self.scale))


class Poll(BaseModel):
    """A question for an answer that took longer."""

    model_config = ConfigDict(extra="forbid")

    poll_id: Annotated[str, Field(min_length=1, max_length=200)]
