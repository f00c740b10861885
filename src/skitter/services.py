"""The services that all shells share: the CLI, the API and the orchestrator use nothing else."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skitter.access import Audit, Keys
from skitter.frontier.opening import open_frontier
from skitter.jobs.service import Jobs
from skitter.orchestrator.alerts import Alerts
from skitter.orchestrator.schedules import Schedules
from skitter.orchestrator.submission_checks import submission_checks
from skitter.store import Store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from skitter.frontier import Frontier
    from skitter.settings import Settings


@dataclass
class Services:
    """What is open, and works on one frontier and one store."""

    settings: Settings
    frontier: Frontier
    store: Store
    jobs: Jobs
    keys: Keys
    audit: Audit
    schedules: Schedules
    alerts: Alerts


@asynccontextmanager
async def open_services(
    settings: Settings, *, worker: str | None = None, guest: bool = False
) -> AsyncIterator[Services]:
    """Open all of them, and close them at the end. For worker and guest see `open_frontier`."""
    async with (
        open_frontier(settings, worker=worker, guest=guest) as frontier,
        await Store.open(settings.store.url) as store,
    ):
        jobs = Jobs(frontier, store, checks=submission_checks(settings))
        yield Services(
            settings=settings,
            frontier=frontier,
            store=store,
            jobs=jobs,
            keys=Keys(store),
            audit=Audit(store),
            schedules=Schedules(frontier, store, jobs),
            alerts=Alerts(store, settings.alerts),
        )
