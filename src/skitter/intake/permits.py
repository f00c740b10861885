"""Turns at hosts for what is fetched outside the queue: media, inline downloads, and the like."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skitter.frontier import Frontier, Permit
    from skitter.intake.holding import Holding
    from skitter.intake.returner import Returner

SHORTEST_PAUSE_S = 0.001


class Permits:
    """Waits for permits, and keeps those that are held so that they are renewed."""

    def __init__(self, frontier: Frontier, holding: Holding, returner: Returner) -> None:
        self._frontier = frontier
        self._holding = holding
        self._returner = returner

    async def wait(self, host: str, *, egress: str, timeout_s: float) -> Permit:
        """A permit that is granted; raises TimeoutError."""
        ends_at = time.monotonic() + timeout_s
        while True:
            permit = await self._ask(host, egress, ends_at - time.monotonic())
            left_s = ends_at - time.monotonic()
            if permit is not None and permit.granted:
                self._holding.permits[permit.token] = permit
                return permit
            if permit is None or left_s <= 0:
                raise TimeoutError(f"{host} gave no turn within {timeout_s:g} s")
            await asyncio.sleep(max(SHORTEST_PAUSE_S, min(permit.wait_ms / 1000, left_s)))

    def forget(self, permit: Permit) -> None:
        """A permit is over; whoever calls gives the turn back."""
        self._holding.permits.pop(permit.token, None)
        self._holding.lost_permits.discard(permit.token)

    async def _ask(self, host: str, egress: str, timeout_s: float) -> Permit | None:
        """Ask once. An answer that comes when nobody waits for it any more goes back."""
        asking = asyncio.ensure_future(self._frontier.permit(host, egress=egress))
        try:
            done, _ = await asyncio.wait([asking], timeout=max(0.0, timeout_s))
        except asyncio.CancelledError:
            asking.add_done_callback(self._return)
            raise
        if done:
            return asking.result()
        asking.add_done_callback(self._return)
        return None

    def _return(self, asking: asyncio.Future[Permit]) -> None:
        if not asking.cancelled() and asking.exception() is None and asking.result().granted:
            self._returner.hand_back([asking.result()])
