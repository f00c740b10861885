"""Several sinks as one: a put is done when all of them have it.

Each is written at the same time as the others. One that fails holds everything back, since the put
fails and comes again; what the others have stored by then is remembered, and not sent to them a
second time. What is away, and what came back, is told once, not at each attempt.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from skitter.errors import SinkRefused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skitter.sinks.item import Item
    from skitter.sinks.sink import Sink

log = structlog.get_logger(__name__)

REMEMBERED = 50_000


class Together:
    """Sinks by their names as they are shown, without passwords."""

    def __init__(self, sinks: Mapping[str, Sink]) -> None:
        self._members = [_Member(name, sink) for name, sink in sinks.items()]

    async def open(self) -> None:
        """Open all, or none."""
        try:
            for member in self._members:
                await member.sink.open()
        except BaseException:
            await self.close()
            raise

    async def put(self, items: Sequence[Item]) -> None:
        """Store items in every sink. Raises for those that did not take them."""
        found = await asyncio.gather(*(member.put(items) for member in self._members))
        errors = [error for error in found if error is not None]
        if not errors:
            for member in self._members:
                member.forget(items)
            return
        refused = [error for error in errors if isinstance(error, SinkRefused)]
        # One that may yet take them is waited for before they are given up.
        raise refused[0] if len(refused) == len(errors) else _first_other(errors)

    async def close(self) -> None:
        """Close all, whatever comes of one."""
        closing = (member.sink.close() for member in self._members)
        found = await asyncio.gather(*closing, return_exceptions=True)
        for error in found:
            if isinstance(error, BaseException):
                raise error


class _Member:
    """One of the sinks, with what it has of puts that failed elsewhere."""

    def __init__(self, name: str, sink: Sink) -> None:
        self.name = name
        self.sink = sink
        self._has: dict[str, Item] = {}
        self._away = False

    async def put(self, items: Sequence[Item]) -> Exception | None:
        """Store what it has not yet; the error, if there was one."""
        missing = [item for item in items if self._has.get(item.id) is not item]
        try:
            await self.sink.put(missing)
        except Exception as error:  # noqa: BLE001 - the others' outcome counts too
            self._tell(error)
            return error
        self._tell(None)
        self._remember(missing)
        return None

    def forget(self, items: Sequence[Item]) -> None:
        for item in items:
            self._has.pop(item.id, None)

    def _remember(self, items: Sequence[Item]) -> None:
        """The oldest are forgotten first: to send them again does no harm."""
        self._has |= {item.id: item for item in items}
        while len(self._has) > REMEMBERED:
            del self._has[next(iter(self._has))]

    def _tell(self, error: Exception | None) -> None:
        away = error is not None and not isinstance(error, SinkRefused)
        if away and not self._away:
            log.warning("a sink holds the others back", sink=self.name, error=str(error))
        elif self._away and not away:
            log.info("a sink is back", sink=self.name)
        self._away = away


def _first_other(errors: Sequence[Exception]) -> Exception:
    return next(error for error in errors if not isinstance(error, SinkRefused))
