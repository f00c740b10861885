"""Which duties a leader has, and how often each looks for something to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from skitter.orchestrator.alerter import Alerter
from skitter.orchestrator.duty import Duty, Lead, Record, Tending
from skitter.orchestrator.finisher import Finisher
from skitter.orchestrator.projector import Projector
from skitter.orchestrator.pruner import Pruner
from skitter.orchestrator.schedule_files import ScheduleFiles
from skitter.orchestrator.schedules import Schedules
from skitter.orchestrator.ticker import Ticker
from skitter.orchestrator.ticking import Ticking

if TYPE_CHECKING:
    from collections.abc import Callable

    from skitter.frontier import Frontier
    from skitter.jobs.service import Jobs
    from skitter.orchestrator.run_judge import Spiders
    from skitter.settings import Settings
    from skitter.store import Store

PRUNE_S = 60.0
FILES_S = 2.0


class Services(Protocol):
    """What duties need."""

    settings: Settings
    frontier: Frontier
    store: Store
    jobs: Jobs


class Duties:
    """Makes a leader's duties anew for each term.

    spiders are those whose gates count, where they can be loaded; more are duties of whoever
    starts it.
    """

    def __init__(
        self,
        services: Services,
        *,
        spiders: Spiders = dict,
        more: dict[str, Callable[[Lead], Tending]] | None = None,
    ) -> None:
        self._services = services
        self._spiders = spiders
        self._more = more or {}

    def all(self, lead: Lead, *, records: dict[str, Record]) -> list[Duty]:
        """All duties of a term; records are those of the process, and go on."""
        tick_s = self._services.settings.orchestrator.tick_s
        alerts = self._services.settings.alerts
        kit = self._services
        given = (kit.frontier, kit.store, kit.settings)
        loops: dict[str, tuple[Tending, float]] = {
            "finisher": (Finisher(*given, spiders=self._spiders), tick_s),
            "projector": (Projector(*given), tick_s),
            "schedule files": (self._files(), max(FILES_S, tick_s)),
            "ticker": (self._ticker(lead), tick_s),
            "alerter": (self._alerter(lead), alerts.every_s),
            "pruner": (Pruner(*given), PRUNE_S),
        }
        loops |= {name: (make(lead), tick_s) for name, make in self._more.items()}
        return [
            Duty(name, loop, every_s=every_s, record=records.setdefault(name, Record()))
            for name, (loop, every_s) in loops.items()
        ]

    def _files(self) -> ScheduleFiles:
        kit = self._services
        schedules = Schedules(kit.frontier, kit.store, kit.jobs)
        return ScheduleFiles(schedules, kit.settings.orchestrator.schedules)

    def _ticker(self, lead: Lead) -> Ticker:
        kit = self._services
        ticking = Ticking(kit.frontier, kit.store, kit.jobs, lead=lead)
        return Ticker(kit.store, ticking, lead, grace_s=kit.settings.orchestrator.tick_grace_s)

    def _alerter(self, lead: Lead) -> Alerter:
        kit = self._services
        return Alerter(kit.frontier, kit.store, kit.settings.alerts, lead)
