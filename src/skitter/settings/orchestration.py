"""Settings of the orchestrator's loops: schedules, retention, alerts, scaling, health."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from skitter.settings.kinds import MaskedUrl, Seconds, SecondsOrZero, split
from skitter.settings.section import Section


def _threshold(text: str) -> str:
    if not re.fullmatch(r"[a-z0-9-]+=[0-9]+(\.[0-9]+)?", text):
        raise ValueError(f"{text!r} is no rule with a number: backlog=50000")
    return text


def _webhook(text: str) -> MaskedUrl:
    if not re.match(r"https?://[^/\s]", text):
        raise ValueError("it should start with https:// or http://")
    return MaskedUrl(text)


class MaskedText(str):
    """A secret: an ordinary string whose repr does not show it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'***'"


def _secret(text: str) -> MaskedText:
    if len(text) < 8:
        raise ValueError("it should have at least 8 characters")
    return MaskedText(text)


Days = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Names = Annotated[tuple[str, ...], BeforeValidator(split)]
Thresholds = Annotated[
    tuple[Annotated[str, AfterValidator(_threshold)], ...], BeforeValidator(split)
]
Webhooks = Annotated[tuple[Annotated[str, AfterValidator(_webhook)], ...], BeforeValidator(split)]
SecretText = Annotated[str, AfterValidator(_secret)]
Port = Annotated[int, Field(ge=0, le=65535)]


class OrchestratorSettings(Section):
    """The loops that one process at a time runs for all."""

    id: str | None = Field(None, pattern=r"^[A-Za-z0-9._:@-]{1,64}$", coerce_numbers_to_str=True)
    """The orchestrator's name in logs and in `skitter orchestrator status`. Without it, the host
    name and the process id."""
    tick_s: Seconds = 1.0
    """How often each loop looks for something to do."""
    schedules: Path = Path("schedules")
    """A folder with YAML files of schedules, if it is there; all orchestrators should have the
    same."""
    tick_grace_s: Seconds = 60
    """How late a tick of a schedule may be and still count as on time; an older one was missed,
    and the schedule's catch-up policy decides."""


class RetentionSettings(Section):
    """How long things are kept that nothing needs any more."""

    jobs_days: Days | None = 90
    """How long the history of ended jobs is kept; without it, for ever."""
    ticks_days: Days | None = 90
    """The same for the history of schedules and of alerts."""
    items_days: Days | None = None
    """The same for items in SQLite, PostgreSQL and MongoDB (`items.sink`), with their history,
    counted from when one was last seen; without it, for ever. Files and feeds are kept."""
    dead_letters_days: Days | None = 30
    """How long dead letters of live jobs are kept; `jobs.dead_letters_days` is for ended ones."""
    audit_days: Days | None = 365
    """How long the audit log keeps a change; without it, for ever."""
    logs_days: Days | None = None
    """How long rotated log files (`log.file`) are kept; without it, `log.file_backups` decides."""


class AlertSettings(Section):
    """Who is told when something goes wrong, and what counts as that."""

    webhooks: Webhooks = ()
    """URLs that get a POST with JSON when a rule fires or clears."""
    secret: SecretText | None = None
    """What those messages are signed with: see docs/alerts.md."""
    file: Path | None = None
    """A YAML file with rules in the form of those that come with it: it changes and adds some."""
    thresholds: Thresholds = ()
    """Other thresholds for rules, as `rule=number`: `backlog=50000`."""
    off: Names = ()
    """Names of rules that are not wanted."""
    every_s: Seconds = 5
    """How often the rules are looked at."""
    timeout_s: Seconds = 10
    """How long a webhook may take to answer."""
    attempts: int = Field(10, ge=1, le=100)
    """How often a webhook that fails is called, with growing pauses, before it is given up."""


class AutoscaleSettings(Section):
    """How many worker processes there are, where that follows the work (docs/autoscaling.md)."""

    minimum: int = Field(0, ge=0, le=1024)
    """The fewest; 0 lets the last one go when there is nothing to do."""
    maximum: int | None = Field(None, ge=1, le=1024)
    """The most; without it, one for each core that the cgroup allows."""
    drain_s: Seconds = 30
    """A backlog that is done within this time is no reason for more workers."""
    up_after_s: SecondsOrZero = 4
    """How long hosts must have waited for workers before there are more."""
    up_rest_s: SecondsOrZero = 10
    """The least time between two steps up."""
    down_after_s: SecondsOrZero = 60
    """How long fewer workers would have done before there are fewer."""
    down_rest_s: SecondsOrZero = 120
    """The least time between any change and a step down."""
    idle_s: Seconds = 60
    """After how long without anything to do only the minimum is left."""
    every_s: Seconds = 2
    """How often it is decided."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.maximum is not None and self.minimum > self.maximum:
            raise ValueError("minimum should not be greater than maximum")
        return self


class HealthSettings(Section):
    """Where processes say how they are: `/health/live`, `/health/ready` and `/metrics`."""

    host: str = "127.0.0.1"
    """The address to listen on; `0.0.0.0` is all of this machine's."""
    worker_port: Port | None = None
    """The port of a worker; without it, it listens on none. 0 takes any that is free."""
    orchestrator_port: Port | None = None
    """The port of an orchestrator, the same."""
