"""What a lab web is like: one frozen value, from Python, from YAML or from the command line.

Rates are shares between 0 and 1. Anything that is not said is off, so `WebSpec()` is a small,
fast, faultless web. Hosts take their policy from `delays_ms` and `concurrency` in turn: host n
gets entry n modulo the list's length.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import yaml
from pydantic import ConfigDict, TypeAdapter, ValidationError

from skitter.lab.demo_spec import ExchangeSpec, ShopSpec, check_version
from skitter.lab.refusal import LabSpecError, refuse

STATUS_FAULTS = ("403", "404", "410", "429", "500", "502", "503", "504")
WIRE_FAULTS = ("reset", "truncated", "hang")
LASTING_FAULTS = ("403", "404", "410")
CHARSETS = ("utf-8", "windows-1251", "shift_jis", "iso-8859-1")

_CONFIG = ConfigDict(extra="forbid", coerce_numbers_to_str=True)


@dataclass(frozen=True)
class Fault:
    """A share of pages fails in one way: for the first attempts at each URL, or always."""

    __pydantic_config__: ClassVar[ConfigDict] = _CONFIG

    kind: str
    rate: float
    attempts: int | None = None
    """How many attempts fail; 0 is all of them; unsaid, all for 403, 404 and 410, else one."""
    retry_after_s: int = 1
    """The Retry-After of a 429 or a 503."""

    def __post_init__(self) -> None:
        known = STATUS_FAULTS + WIRE_FAULTS
        refuse(
            {
                f"unknown fault {self.kind!r}; known are {', '.join(known)}": self.kind
                not in known,
                f"the rate of fault {self.kind} must be from 0 to 1": not 0 <= self.rate <= 1,
                "the attempts of a fault must be 0 or more": (self.attempts or 0) < 0,
            }
        )

    @property
    def lasting(self) -> bool:
        """Whether no attempt ever succeeds."""
        return self.attempts == 0 or (self.attempts is None and self.kind in LASTING_FAULTS)

    def fails(self, attempt: int) -> bool:
        """Whether the attempt of this number, counted from 1, fails."""
        return self.lasting or attempt <= (self.attempts or 1)


@dataclass(frozen=True)
class Drip:
    """A share of pages sends its body in pieces, with a pause before each."""

    __pydantic_config__: ClassVar[ConfigDict] = _CONFIG

    rate: float = 0.0
    pieces: int = 10
    interval_ms: float = 100.0

    def __post_init__(self) -> None:
        refuse(
            {
                "the rate of drips must be from 0 to 1": not 0 <= self.rate <= 1,
                "a drip needs one piece or more": self.pieces < 1,
                "a drip's interval_ms must be 0 or more": self.interval_ms < 0,
            }
        )


@dataclass(frozen=True)
class WebSpec:
    """A whole web: its size, its shape, its manners and its mischief."""

    __pydantic_config__: ClassVar[ConfigDict] = _CONFIG

    seed: int = 1
    hosts: int = 10
    host_pattern: str = "h{n}.lab"
    pages: int = 20
    """Pages per host: `/` and `/p/1` to `/p/<pages - 1>`."""
    links: int = 10
    """Links per page; the few that keep the web connected are among them, or above them."""
    local_links: float = 0.5
    """The share of a page's further links that stay on its host."""
    zipf: float = 1.0
    """How unequally links from other hosts fall on hosts: 0 is evenly, 1 is as on the real web."""
    page_bytes: int = 2000
    latency_ms: tuple[float, float] = (0.0, 0.0)
    drip: Drip = field(default_factory=Drip)
    faults: tuple[Fault, ...] = ()
    redirects: float = 0.0
    """The share of links that lead to their page by way of a redirect."""
    redirect_loops: float = 0.0
    """The share of pages that link to a redirect which never ends."""
    delays_ms: tuple[float, ...] = (0.0,)
    concurrency: tuple[int, ...] = (8,)
    """Requests at a time on hosts without a delay; a host with one always takes one."""
    robots: bool = True
    crawl_delay: bool = True
    """Whether robots.txt tells a host's delay."""
    disallow: tuple[str, ...] = ("/private/",)
    private_links: float = 0.0
    """The share of pages that link to `/private/…`."""
    traps: float = 0.0
    """The share of pages that link to an endless calendar or an endlessly deep path."""
    sitemap: bool = True
    sitemap_urls: int = 1000
    change_s: float = 0.0
    """Each page changes once in so many seconds, at a moment of its own; 0 is never."""
    cookies: bool = False
    gzip: bool = False
    charsets: tuple[str, ...] = ("utf-8",)
    shop: ShopSpec | None = None
    """The demo shops, if there are to be any."""
    exchange: ExchangeSpec | None = None
    """The demo exchange, the same."""
    version: int = 0
    """The version of the demo sites that is served at first."""

    def __post_init__(self) -> None:
        _check_size(self)
        _check_rates(self)
        _check_manners(self)
        check_version(self.version)


def spec_from(values: dict[str, Any]) -> WebSpec:
    """A spec from plain values, as YAML or JSON gives them; the error names what is wrong."""
    try:
        return TypeAdapter(WebSpec).validate_python(values)
    except ValidationError as error:
        problems = (
            f"{'.'.join(map(str, item['loc'])) or 'spec'}: {item['msg']}" for item in error.errors()
        )
        raise LabSpecError(problem="; ".join(problems)) from error


def spec_values(spec: WebSpec) -> dict[str, Any]:
    """The plain values that `spec_from` makes the same spec of."""
    return asdict(spec)


def read_spec_values(path: Path) -> dict[str, Any]:
    """The values in a YAML file."""
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise LabSpecError(problem=f"cannot read {path}: {error}") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        kind = type(values).__name__
        raise LabSpecError(problem=f"{path} must hold names and values, not a {kind}")
    return values


def _check_size(spec: WebSpec) -> None:
    pattern = spec.host_pattern
    refuse(
        {
            "hosts and pages must be 1 or more": spec.hosts < 1 or spec.pages < 1,
            "links and page_bytes must be 0 or more": spec.links < 0 or spec.page_bytes < 0,
            "sitemap_urls must be 1 or more": spec.sitemap_urls < 1,
            "zipf must be 0 or more": spec.zipf < 0,
            "host_pattern must be in lower case and hold {n} once, like h{n}.lab": (
                pattern.count("{n}") != 1 or pattern != pattern.lower()
            ),
        }
    )


def _check_rates(spec: WebSpec) -> None:
    names = ("local_links", "redirects", "redirect_loops", "private_links", "traps")
    problems = {f"{name} must be from 0 to 1": not 0 <= getattr(spec, name) <= 1 for name in names}
    total = sum(fault.rate for fault in spec.faults)
    problems[f"the rates of all faults add up to {total:g}, above 1"] = total > 1 + 1e-9
    refuse(problems)


def _check_manners(spec: WebSpec) -> None:
    low_ms, high_ms = spec.latency_ms
    unknown = ", ".join(sorted(set(spec.charsets) - set(CHARSETS)))
    refuse(
        {
            "latency_ms must be a lowest and a highest, from 0 up": not 0 <= low_ms <= high_ms,
            "delays_ms must name delays, from 0 up": min(spec.delays_ms, default=-1) < 0,
            "concurrency must name numbers, from 1 up": min(spec.concurrency, default=0) < 1,
            "disallow must name paths that start with /": any(
                not path.startswith("/") for path in spec.disallow
            ),
            f"charsets must be among {', '.join(CHARSETS)}; unknown: {unknown or 'none named'}": (
                bool(unknown) or not spec.charsets
            ),
            "change_s must be 0 or more": spec.change_s < 0,
        }
    )
