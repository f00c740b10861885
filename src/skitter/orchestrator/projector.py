"""Keeps the store's rows of live jobs fresh: changes at once, figures every few seconds."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from skitter.jobs.projection import AT_ONCE, Projection

if TYPE_CHECKING:
    from skitter.frontier import Frontier
    from skitter.settings import Settings
    from skitter.store import Store

MOST_CHANGES = 20
MOST_FIGURES = 500


class Projector:
    """Writes what has changed since it looked last."""

    def __init__(self, frontier: Frontier, store: Store, settings: Settings) -> None:
        self._frontier = frontier
        self._every_s = settings.jobs.figures_s
        self._projection = Projection(frontier, store)
        self._looked_at = 0.0
        self._place = 0

    async def tend(self) -> int:
        """Write rows of jobs that changed, and of some live ones; how many."""
        written = 0
        for _ in range(MOST_CHANGES):
            found = await self._projection.catch_up()
            written += found
            if found < AT_ONCE:
                break
        if time.monotonic() - self._looked_at >= self._every_s:
            self._looked_at = time.monotonic()
            written += await self._refresh()
        return written

    async def _refresh(self) -> int:
        """The next of all live jobs; in some rounds all have had their turn."""
        live = await self._frontier.jobs.live_page(self._place, limit=MOST_FIGURES)
        self._place = self._place + MOST_FIGURES if len(live) >= MOST_FIGURES else 0
        return await self._projection.refresh(live)
