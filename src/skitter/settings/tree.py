"""The settings themselves. A setting's docstring is its documentation, here and in the docs.

A section is a frozen model that knows nothing of files and environments, so that tests and
libraries build one directly: `FrontierSettings(lease_s=2)`.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from skitter import __version__
from skitter.settings.api import ApiSettings
from skitter.settings.identity import IdentitySettings, ProxySettings
from skitter.settings.kinds import (
    Bytes,
    Lowered,
    ReasonAttempts,
    ResolveRules,
    Seconds,
    SecondsOrZero,
    ServerUrl,
    SinkUrls,
    Statuses,
)
from skitter.settings.orchestration import (
    AlertSettings,
    AutoscaleSettings,
    HealthSettings,
    OrchestratorSettings,
    RetentionSettings,
)
from skitter.settings.section import Section
from skitter.settings.services import JobsSettings, StoreSettings

_SHORT_VERSION = ".".join(__version__.split(".")[:2])
_BODY_BYTES = 64 * 1024**2
_UNBOUNDED = 1 << 62


class RedisSettings(Section):
    """The server that holds all hot state: Redis 7.0, Valkey 7.2, or later."""

    url: ServerUrl | None = None
    """Where the server is: `redis://`, `rediss://` (TLS) or `unix://`. Without it, Skitter starts
    a private Valkey of its own (see `embedded`)."""
    namespace: str = Field("skitter", pattern=r"^[A-Za-z0-9._-]{1,32}$")
    """The first part of every key, so that several Skitters can share a server."""
    shards: int | None = Field(None, ge=1, le=1024)
    """Into how many parts the hosts are divided: 1 on a single server, 16 on a cluster unless
    told otherwise. Recorded at first use; changing it later is refused."""
    connect_timeout_s: Seconds = 5
    """How long one attempt to connect may take."""
    timeout_s: Seconds = 5
    """How long one command may take before it counts as failed and is repeated."""
    patience_s: SecondsOrZero = 30
    """How long a call keeps retrying while the server is away, before it gives up with an
    error. Nothing accepted is lost either way."""
    wait_replicas: int = Field(0, ge=0)
    """How many replicas must have a request's children before the request counts as settled.
    With 0, a failover may lose the last writes that no replica had seen."""
    wait_timeout_s: Seconds = 1
    """How long to wait for those replicas before the settlement is tried again."""


class EmbeddedSettings(Section):
    """The private Valkey that runs when `redis.url` is not set."""

    dir: Path = Path(".skitter")
    """The project's folder for the server's data, socket and log. Processes that name the same
    folder share one server."""
    appendfsync: Literal["always", "everysec", "no"] = "always"
    """When a write reaches the disk. `always`: before it is acknowledged, so nothing is lost;
    `everysec` and `no` are faster, and a crash may lose the last second or more."""
    maxmemory: str | None = Field(None, pattern=r"(?i)^[1-9][0-9]*([kmg]b?|b)?$")
    """The most memory that the server may take, as Valkey writes it: `512mb`, `2gb`. When it is
    full, new requests are refused and nothing is thrown away."""


class FrontierSettings(Section):
    """Which URL is next, who has it, and for how long."""

    lease_s: Seconds = 30
    """How long a request stays with a worker that says nothing; then another one gets it. Live
    workers renew their leases, so a slow page is no reason to raise it."""
    turn_s: Seconds = 5
    """How many seconds' worth of fetches from one host a worker may hold at a time."""
    renew_margin_s: Seconds = 3
    """How long before a lease ends its worker stops sending, to be sure that no two workers ask
    for the same page. Must be shorter than the lease."""
    max_url_bytes: Bytes = Field(8192, validate_default=True)
    """The longest URL that is accepted."""
    max_request_bytes: Bytes = Field(262_144, validate_default=True)
    """The largest request that is accepted, with its headers, body and meta."""
    max_crashes: int = Field(10, ge=1)
    """After how many deaths of the worker that held it a request is buried as a dead letter."""
    alone_after_crashes: int = Field(2, ge=1)
    """After how many of them a request is handed out alone, so that it takes no others along."""
    caretaker_tick_s: Seconds = 0.5
    """How often expired leases are collected, ended jobs closed and idle hosts put away."""
    idle_host_ttl_days: float = Field(30, gt=0, allow_inf_nan=False)
    """How long a host with nothing queued is remembered, with its pace and its statistics."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.renew_margin_s >= self.lease_s:
            raise ValueError("renew_margin_s should be shorter than lease_s")
        if self.alone_after_crashes > self.max_crashes:
            raise ValueError("alone_after_crashes should not be greater than max_crashes")
        return self


class PolitenessSettings(Section):
    """How often a host is asked. A job and a host may each have stricter rules of their own."""

    unit: Literal["host", "domain"] = "host"
    """What has a pace of its own: each host name, or each registered domain with all of its
    hosts together."""
    delay_s: SecondsOrZero = 1.0
    """The least time between a response from a host and the next request to it. A longer
    `Crawl-delay` or `Retry-After` wins; with 0, `concurrency` is the limit."""
    concurrency: int = Field(8, ge=1)
    """How many requests may be under way at once to a host that has no delay. A host with a
    delay gets one at a time."""
    latency_factor: SecondsOrZero = 1.0
    """A host that took a second to answer is left alone for this many seconds; 0 turns it off."""
    max_delay_s: Seconds = 300
    """The longest delay that slow answers and `Crawl-delay` can lead to."""
    max_retry_after_s: Seconds = 3600
    """The longest `Retry-After` that is obeyed; a longer one counts as this long."""
    robots: bool = True
    """Whether robots.txt is fetched and obeyed."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.delay_s > self.max_delay_s:
            raise ValueError("delay_s should not be longer than max_delay_s")
        return self


class RobotsSettings(Section):
    """How robots.txt is read; `politeness.robots` says whether it is."""

    user_agent: str | None = Field(None, pattern=r"^[\x21-\x7e][\x20-\x7e]*$")
    """The name that is looked for in robots.txt. Without it, `fetch.user_agent`, whatever user
    agents are rotated."""
    ttl_s: Seconds = 86_400
    """How long a robots.txt counts before it is read again, for all workers."""
    missing_ttl_s: Seconds = 3_600
    """The same for a site that has none, where everything is allowed."""
    max_bytes: Bytes = Field(500 * 1024, validate_default=True)
    """How much of it is read; the rest is ignored."""
    retry_s: Seconds = 5
    """How long a host waits when its robots.txt cannot be had (5xx, no connection); each further
    failure doubles it."""
    max_retry_s: Seconds = 3_600
    """The longest such wait."""
    max_attempts: int = Field(5, ge=1)
    """After how many failures in a row the host's requests no longer wait and are buried as dead
    letters; robots.txt is still tried again from time to time."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.retry_s > self.max_retry_s:
            raise ValueError("retry_s should not be longer than max_retry_s")
        return self


class RetrySettings(Section):
    """What happens to a request that failed for a reason that may pass."""

    max_attempts: int = Field(4, ge=1)
    """How often a request is tried in all, before it is buried as a dead letter."""
    base_s: Seconds = 2
    """The wait before the second attempt."""
    factor: float = Field(2, ge=1, allow_inf_nan=False)
    """By how much each wait is longer than the one before it."""
    max_s: Seconds = 600
    """The longest wait, however many attempts there were."""
    jitter: float = Field(0.5, ge=0, le=1)
    """The part of each wait that is left to chance, so that failures do not come back all at
    once: 0 none of it, 1 all of it."""
    statuses: Statuses = (500, 502, 503, 504, 522, 524, 408, 429)
    """The HTTP statuses that are tried again; a response with another one is given to the
    spider."""
    attempts: ReasonAttempts = ("callback=1", "item=2", "url=1")
    """Reasons with a number of attempts of their own, as `reason=number`: `dns`, `connect`,
    `proxy`, `tls`, `timeout`, `reset`, `truncated`, `protocol`, `http`, a status such as `503`,
    `callback` and `item` (exceptions in the spider and in pipelines), `sink`, `url`, `error`."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.base_s > self.max_s:
            raise ValueError("base_s should not be longer than max_s")
        return self


class FetchSettings(Section):
    """How a page is asked for."""

    user_agent: str = Field(
        f"Skitter/{_SHORT_VERSION} (polite crawler; set fetch.user_agent to name yourself)",
        pattern=r"^[\x21-\x7e][\x20-\x7e]*$",
    )
    """What the crawler calls itself. Say who you are and how to reach you."""
    timeout_s: Seconds = 30
    """How long one fetch may take from the first byte sent to the last byte read."""
    max_body_bytes: Bytes = Field(16 * 1024**2, validate_default=True)
    """The largest body that is read, after decompression; a longer one is a failure."""
    client: Literal["aiohttp", "curl"] = "aiohttp"
    """The HTTP client of the fast engine. `curl` (libcurl, with `skitter[curl]`) needs less than
    half of the CPU for a fetch; docs/engine.md says what differs."""
    resolve: ResolveRules = ()
    """Addresses that come before DNS, as `pattern[:port]=address[:port]`; `*` in a pattern stands
    for anything. The first that fits counts: `*.lab=127.0.0.1:8080`."""


class ItemsSettings(Section):
    """Where the items go that spiders find."""

    sink: SinkUrls = ("sqlite:.skitter/items.db",)
    """The store, by a URL whose scheme says its kind: `sqlite:PATH`, `jsonl:FOLDER`, `csv:FOLDER`,
    `parquet:FOLDER`, `postgresql://…?table=`, `mongodb://…?collection=`, `redis://…?stream=` or
    `?list=`. A page is done only when its items are durable there; an item that comes again
    replaces itself. Several, as a list or with spaces between them, all get every item."""


class RedirectSettings(Section):
    """How far redirects are followed. Each goes back through the frontier, at its host's pace."""

    max_hops: int = Field(20, ge=0, le=100)
    """How many redirects in a row are followed; with 0, a redirect is given to the spider."""
    downgrade: bool = True
    """Whether a redirect from https to http is followed; never with a body, and never with
    cookies or credentials."""


class TrapSettings(Section):
    """What a link must not look like: defence against endless sites."""

    max_url_chars: int = Field(2083, ge=1)
    """The longest URL that is followed."""
    max_segments: int = Field(30, ge=1)
    """The most parts that a path may have."""
    max_params: int = Field(40, ge=0)
    """The most parameters that a query may have."""
    max_repeats: int = Field(3, ge=2)
    """How often a group of path parts may not repeat: with 3, `/a/b/a/b/a/b` is not followed. One
    part by itself may repeat once more, and numbers may repeat."""
    max_depth: int | None = Field(None, ge=0)
    """How many links away from a seed a page may be; a job may have a limit of its own."""
    max_run: int = Field(2000, ge=0)
    """How many links deep pages of one shape (`/calendar/#/#`) may follow each other; 0 turns it
    off."""
    future_years: int = Field(5, ge=0)
    """How many years ahead a date in a URL may lie."""
    max_per_host: int | None = Field(None, ge=1)
    """How many requests of one job may be accepted for one host, unless the job says."""


class LogSettings(Section):
    """What is told, to whom. Logs go to stderr; secrets in them are masked."""

    level: Annotated[Literal["debug", "info", "warning", "error", "critical"], Lowered] = "info"
    """The least severe messages that are shown."""
    format: Annotated[Literal["auto", "text", "json"], Lowered] = "auto"
    """`text` for people, `json` for machines, `auto`: text on a terminal and JSON elsewhere."""
    file: Path | None = None
    """A file that gets every line too. `{pid}` in its name is replaced by the process id, which
    is needed when several processes log to files that rotate."""
    file_max_bytes: Bytes = Field(64 * 1024**2, validate_default=True)
    """At what size the file is put aside and a new one begun."""
    file_backups: int = Field(5, ge=0)
    """How many files put aside are kept. With 0, the file never rotates."""
    config: Path | None = None
    """A `logging.yaml` in the form of Python's `logging.config.dictConfig`, which then replaces
    `level`, `format` and `file`. Formatters `text` and `json` are there to be used."""


class WorkerSettings(Section):
    """The processes that fetch."""

    id: str | None = Field(None, pattern=r"^[A-Za-z0-9._:@-]{1,64}$", coerce_numbers_to_str=True)
    """The worker's name in leases, logs and figures; two live workers may not share one. Without
    it, the host name and the process id."""
    processes: int | None = Field(None, ge=1, le=1024)
    """How many processes a worker runs. Without it, one for each core that its cgroup allows."""
    engine: Literal["auto", "fast", "scrapy"] = "auto"
    """What runs the spiders: `fast` is Skitter's own engine, `scrapy` Scrapy's on the frontier.
    `auto`: the fast one, and Scrapy's for a spider with parts that the fast one cannot run."""
    concurrency: int = Field(64, ge=1, le=100_000)
    """How many requests a process has under way at once, over all of its lanes."""
    memory: Bytes | None = None
    """How much memory a process may take; one that takes more is drained and replaced. Without
    it, a process's share of four fifths of what the cgroup allows, if that allows an end."""
    body_bytes: Bytes | None = None
    """How many bytes of bodies a process may have in hand, from their first byte until their pages
    are settled. While that many are there no fetch begins, and bodies that are coming wait in their
    connections; a larger one passes alone. Without it, 64 MiB, or a quarter of `memory` if that is
    less."""
    grace_s: Seconds = 25
    """How long a worker that is told to end may go on with what it has begun. Anything not begun
    is handed back at once."""
    lanes: int = Field(100, ge=1)
    """How many lanes (spiders with their arguments) a process has open at once."""
    lane_idle_s: Seconds = 30
    """After how long without work a lane is closed; it is opened again when there is some."""
    heartbeat_s: Seconds = 2
    """How often a process says what it is doing. It is forgotten after five times as long."""
    restarts: int = Field(10, ge=0)
    """How often in a row a process that dies before it was ready is started again."""

    def room_for_bodies(self) -> int:
        """The bytes of bodies that a process may have in hand."""
        return self.body_bytes or min(_BODY_BYTES, (self.memory or _UNBOUNDED) // 4)

    def name(self) -> str:
        """Asked for in the process that uses it, since the process id is part of the default."""
        return self.id or f"{socket.gethostname()}-{os.getpid()}"


class Settings(Section):
    """All sections. `load_settings` reads one from the world; `Settings()` is the defaults."""

    redis: RedisSettings = Field(default_factory=RedisSettings)
    embedded: EmbeddedSettings = Field(default_factory=EmbeddedSettings)
    frontier: FrontierSettings = Field(default_factory=FrontierSettings)
    politeness: PolitenessSettings = Field(default_factory=PolitenessSettings)
    robots: RobotsSettings = Field(default_factory=RobotsSettings)
    retry: RetrySettings = Field(default_factory=RetrySettings)
    fetch: FetchSettings = Field(default_factory=FetchSettings)
    identity: IdentitySettings = Field(default_factory=IdentitySettings)
    proxies: ProxySettings = Field(default_factory=ProxySettings)
    redirects: RedirectSettings = Field(default_factory=RedirectSettings)
    traps: TrapSettings = Field(default_factory=TrapSettings)
    items: ItemsSettings = Field(default_factory=ItemsSettings)
    log: LogSettings = Field(default_factory=LogSettings)
    worker: WorkerSettings = Field(default_factory=WorkerSettings)
    store: StoreSettings = Field(default_factory=StoreSettings)
    jobs: JobsSettings = Field(default_factory=JobsSettings)
    api: ApiSettings = Field(default_factory=ApiSettings)
    orchestrator: OrchestratorSettings = Field(default_factory=OrchestratorSettings)
    retention: RetentionSettings = Field(default_factory=RetentionSettings)
    alerts: AlertSettings = Field(default_factory=AlertSettings)
    autoscale: AutoscaleSettings = Field(default_factory=AutoscaleSettings)
    health: HealthSettings = Field(default_factory=HealthSettings)
