"""Renews all that is held, three times in a lease: prefetched work and permits too.

An answer may say that a lease is gone, that its job is paused or ended, or that its host has
another delay now. What no engine has taken yet is then dropped, handed back or put off; a page that
an engine has is marked, and nothing more is sent for it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from skitter.intake.page import Page
from skitter.intake.signals import Backoff

if TYPE_CHECKING:
    from collections.abc import Callable

    from skitter.frontier import Frontier, Permit, Renewal
    from skitter.intake.holding import Holding
    from skitter.intake.pacer import Pacer

log = structlog.get_logger(__name__)

AT_ONCE = 1000
TIMES_A_LEASE = 3


class Renewer:
    """The heartbeat of a process's leases. `withdraw` hands back pages that no engine has."""

    def __init__(
        self,
        frontier: Frontier,
        holding: Holding,
        pacer: Pacer,
        *,
        withdraw: Callable[[list[Page]], None],
    ) -> None:
        self._frontier = frontier
        self._holding = holding
        self._pacer = pacer
        self._withdraw = withdraw
        self._backoff = Backoff()

    async def run(self) -> None:
        """Renew until cancelled."""
        while True:
            await asyncio.sleep(self._frontier.config.lease_ms / (1000 * TIMES_A_LEASE))
            while not await self._try():
                await self._backoff.pause()
            self._backoff.reset()

    async def _try(self) -> bool:
        try:
            await self.renew()
        except Exception as error:  # noqa: BLE001 - a heart that stops loses all that is held
            log.warning("leases could not be renewed", error=str(error))
            return False
        return True

    async def renew(self) -> None:
        """Renew everything once, and act on what the answers say."""
        held: list[Page | Permit] = [*self._holding.pages.values(), *self._holding.permits.values()]
        for first in range(0, len(held), AT_ONCE):
            some = held[first : first + AT_ONCE]
            leases = [one.lease if isinstance(one, Page) else one for one in some]
            answers = await self._frontier.renew(leases)
            self._heed(list(zip(some, answers, strict=True)))

    def _heed(self, answers: list[tuple[Page | Permit, Renewal]]) -> None:
        unwanted = []
        for held, renewal in answers:
            if isinstance(held, Page):
                if not (held.over or held.settlement) and self._mark(held, renewal):
                    unwanted.append(held)
            elif renewal.answer == "gone" and held.token in self._holding.permits:
                self._holding.lost_permits.add(held.token)
        self._withdraw(unwanted)
        for lane in {held.lane for held, _ in answers if isinstance(held, Page)}:
            self._pacer.wake_soon(lane)

    def _mark(self, page: Page, renewal: Renewal) -> bool:
        """Note what an answer says; whether the page, which nobody took, is to go."""
        page.gone = renewal.answer == "gone"
        page.give_back = renewal.answer == "give back"
        # A host that gave turns side by side and has a delay now gives them out anew.
        turned = renewal.delay_ms > 0 and not page.lease.delay_ms
        if renewal.answer == "kept":
            self._pacer.slow_down(page, renewal.delay_ms)
        return not page.taken and (turned or page.gone or page.give_back)
