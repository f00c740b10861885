"""What a Scrapy project's tuning settings mean here. Scrapy itself is not needed to say it.

Only what a project, a spider or a command line has set counts: Scrapy's defaults are not polite,
and ours stand in their place. docs/politeness.md has the same as a table. Pace and limits become
host policy and limits of the job, held by all workers together; the rest is laid over our settings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import ValidationError

from skitter.errors import SettingsError
from skitter.frontier import HostPolicy
from skitter.policies.scrapy_values import Told
from skitter.settings import Settings

PROJECT = 20
"""Scrapy's priority of a project's settings; defaults, commands and add-ons rank below it."""
ADAPTIVE_FLOOR_S = 0.05
_IGNORED = {
    "AUTOTHROTTLE_START_DELAY": "a host's delay is known from its first answer",
    "CONCURRENT_REQUESTS_PER_IP": "hosts are told apart by name; see politeness.unit",
    "DOWNLOAD_DELAY_JITTER": "the delay is the least gap, and is kept exactly",
    "RANDOMIZE_DOWNLOAD_DELAY": "the delay is the least gap, and is kept exactly",
    "RETRY_EXCEPTIONS": "a failed fetch is retried by its reason; see retry.attempts",
    "RETRY_PRIORITY_ADJUST": "a retry waits its time and keeps its priority",
}
_CLOSE_ON = {
    "CLOSESPIDER_ERRORCOUNT": "errors",
    "CLOSESPIDER_ITEMCOUNT": "items",
    "CLOSESPIDER_PAGECOUNT_NO_ITEM": "pages_without_item",
    "CLOSESPIDER_TIMEOUT_NO_ITEM": "seconds_without_item",
}


class ScrapySettings(Protocol):
    """What is asked of a `scrapy.settings.BaseSettings`."""

    def __iter__(self) -> Iterator[str]:
        """The names of all settings."""

    def __getitem__(self, name: str) -> Any:
        """A setting's value."""

    def getpriority(self, name: str) -> int | None:
        """Who gave it, as a number."""


@dataclass(frozen=True, kw_only=True)
class ScrapyTuning:
    """A project's wishes in our words. None: it has none, and our own setting stands.

    job holds the fields of a Job that they set: delay_s, concurrency, robots, max_depth, max_pages,
    expires_s. hosts are policies by host name. in_flight is CONCURRENT_REQUESTS, for each process.
    close_on ends the job after so many: errors, items, pages_without_item, seconds_without_item.
    settings are ours to change, by their dotted names. notes say what is not kept, and why.
    """

    job: dict[str, Any] = field(default_factory=dict)
    hosts: dict[str, HostPolicy] = field(default_factory=dict)
    in_flight: int | None = None
    depth_priority: int = 0
    redirect_priority: int = 0
    close_on: dict[str, float] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def over(self, settings: Settings) -> Settings:
        """Our settings with the project's wishes laid over them, checked like any others."""
        values = settings.model_dump()
        for name, value in self.settings.items():
            section, _, key = name.partition(".")
            values[section][key] = value
        pace = values["politeness"]
        pace["max_delay_s"] = max(pace["max_delay_s"], pace["delay_s"])
        try:
            return Settings.model_validate(values)
        except ValidationError as error:
            problems = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
            raise SettingsError(problems="; ".join(problems)) from error


def told(settings: ScrapySettings) -> dict[str, tuple[Any, int]]:
    """The values that somebody set, with their priorities, of a Scrapy settings object."""
    ranks = {name: settings.getpriority(name) or 0 for name in settings}
    return {name: (settings[name], rank) for name, rank in ranks.items() if rank >= PROJECT}


def from_scrapy(values: Mapping[str, tuple[Any, int]]) -> ScrapyTuning:
    """What the settings of a project mean; values come with their priority, as Scrapy counts it.

    Raises BadScrapySetting for a value that Scrapy would not take either.
    """
    given = Told({name: value for name, (value, rank) in values.items() if rank >= PROJECT})
    return ScrapyTuning(
        job=_job(given),
        hosts=_hosts(given),
        in_flight=given.number("CONCURRENT_REQUESTS") or None,
        depth_priority=given.number("DEPTH_PRIORITY") or 0,
        redirect_priority=given.number("REDIRECT_PRIORITY_ADJUST") or 0,
        close_on={
            ours: number for name, ours in _CLOSE_ON.items() if (number := given.real(name)) > 0
        },
        settings=_settings(given),
        notes=tuple(
            f"{name} is not used: {why}" for name, why in _IGNORED.items() if name in given
        ),
    )


def _job(given: Told) -> dict[str, Any]:
    fields = {
        "delay_s": _delay_s(given),
        "concurrency": given.number("CONCURRENT_REQUESTS_PER_DOMAIN") or None,
        "robots": given.flag("ROBOTSTXT_OBEY"),
        "max_depth": given.number("DEPTH_LIMIT") or None,
        "max_pages": given.number("CLOSESPIDER_PAGECOUNT") or None,
        "expires_s": given.real("CLOSESPIDER_TIMEOUT") or None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _delay_s(given: Told) -> float | None:
    """The job's delay. Who asks for several requests at a time, and no delay, means no delay."""
    if "DOWNLOAD_DELAY" in given:
        delay_s = given.real("DOWNLOAD_DELAY")
        # Without any delay there is nothing to adapt.
        return max(delay_s, ADAPTIVE_FLOOR_S) if given.flag("AUTOTHROTTLE_ENABLED") else delay_s
    several = (given.number("CONCURRENT_REQUESTS_PER_DOMAIN") or 0) > 1
    return 0.0 if several and not given.flag("AUTOTHROTTLE_ENABLED") else None


def _hosts(given: Told) -> dict[str, HostPolicy]:
    """DOWNLOAD_SLOTS, whose keys are host names unless a spider names slots itself."""
    return {name.lower(): _slot(given, name, slot) for name, slot in given.slots().items()}


def _slot(given: Told, name: str, slot: Mapping[str, Any]) -> HostPolicy:
    one = Told({f"DOWNLOAD_SLOTS[{name}].{key}": value for key, value in slot.items()})
    delay, several = f"DOWNLOAD_SLOTS[{name}].delay", f"DOWNLOAD_SLOTS[{name}].concurrency"
    concurrency = one.number(several) or None
    delay_s = one.real(delay) if delay in one else _delay_s(given)
    if delay_s is None and (concurrency or 0) > 1:
        delay_s = 0.0
    delay_ms = None if delay_s is None else round(delay_s * 1000)
    return HostPolicy(delay_ms=delay_ms, concurrency=concurrency)


def _settings(given: Told) -> dict[str, Any]:
    found = {
        "robots.user_agent": given.text("ROBOTSTXT_USER_AGENT"),
        "fetch.user_agent": given.text("USER_AGENT"),
        "retry.max_attempts": _attempts(given),
        "retry.statuses": given.numbers("RETRY_HTTP_CODES"),
        "redirects.max_hops": _hops(given),
        "traps.max_url_chars": given.number("URLLENGTH_LIMIT") or None,
        **_adaptive(given),
    }
    return {name: value for name, value in found.items() if value is not None}


def _attempts(given: Told) -> int | None:
    if given.flag("RETRY_ENABLED") is False:
        return 1
    retries = given.number("RETRY_TIMES")
    return None if retries is None else max(1, retries + 1)


def _hops(given: Told) -> int | None:
    if given.flag("REDIRECT_ENABLED") is False:
        return 0
    hops = given.number("REDIRECT_MAX_TIMES")
    return None if hops is None else min(max(0, hops), 100)


def _adaptive(given: Told) -> dict[str, float]:
    """AutoThrottle: the gap is the last latency, divided by how many it wants at a time."""
    enabled = given.flag("AUTOTHROTTLE_ENABLED")
    if enabled is None:
        return {}
    if not enabled:
        return {"politeness.latency_factor": 0.0}
    target = given.real("AUTOTHROTTLE_TARGET_CONCURRENCY") or 1.0
    longest_s = given.real("AUTOTHROTTLE_MAX_DELAY")
    factor = {"politeness.latency_factor": round(1 / target, 3)}
    return factor | ({"politeness.max_delay_s": longest_s} if longest_s else {})
