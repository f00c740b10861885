"""A worker of this machine that has as many processes as there is work for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import structlog

from skitter.errors import SettingsError
from skitter.orchestrator.autoscaler import Autoscaler, bounds_of
from skitter.orchestrator.duty import Duty, Record
from skitter.orchestrator.local_driver import LocalDriver
from skitter.orchestrator.observing import Observer
from skitter.worker.cgroup import cores

if TYPE_CHECKING:
    from skitter.frontier import Frontier
    from skitter.settings import Settings
    from skitter.worker.orders import Restriction
    from skitter.worker.supervisor import Supervisor

log = structlog.get_logger(__name__)

MOST = 1024


class Scaling:
    """For `run_worker`: its `run` goes beside the supervisor, whose children begin with `begin`."""

    def __init__(self, settings: Settings, restriction: Restriction) -> None:
        self._settings = settings.autoscale
        self._restriction = restriction
        self._bounds = bounds_of(settings.autoscale, cores=cores())
        self.begin = self._bounds.minimum

    async def run(self, frontier: Frontier, supervisor: Supervisor) -> None:
        """Decide again and again, until cancelled."""
        scaler = self.scaler(frontier, supervisor)
        log.info("scales by itself", minimum=self._bounds.minimum, maximum=self._bounds.maximum)
        duty = Duty("autoscaler", scaler, every_s=self._settings.every_s, record=Record())
        await duty.run()

    def scaler(self, frontier: Frontier, supervisor: Supervisor) -> Autoscaler:
        """The loop, for one supervisor: only its own children count as workers."""
        driver = LocalDriver(supervisor)
        observer = Observer(
            frontier,
            mine=lambda name: name.startswith(f"{supervisor.name}."),
            only=self._restriction.only,
            memory_left=driver.memory_left,
        )
        return Autoscaler(observer, driver, self._bounds)


def autoscale_flags(text: str) -> dict[str, object]:
    """`0-8` as settings; raises SettingsError."""
    if not text:
        return {}
    found = re.fullmatch(r"(\d{1,4})-(\d{1,4})", text.strip())
    low, high = (int(found[1]), int(found[2])) if found else (1, 0)
    if not 0 <= low <= high <= MOST or high == 0:
        raise SettingsError(problems=f"--autoscale {text} is not like 0-8")
    return {"autoscale.minimum": low, "autoscale.maximum": high}
