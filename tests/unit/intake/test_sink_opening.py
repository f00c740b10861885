"""A sink whose server comes up late is waited for; one that cannot be is told of at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skitter.errors import SinkError, SinkReadOnly
from skitter.intake.sink_opening import open_sink_patiently

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skitter.sinks import Item

pytestmark = pytest.mark.unit


class Late:
    """A sink that opens after these errors."""

    def __init__(self, *errors: SinkError) -> None:
        self._errors = list(errors)
        self.opened = False

    async def open(self) -> None:
        if self._errors:
            raise self._errors.pop(0)
        self.opened = True

    async def put(self, items: Sequence[Item]) -> None: ...

    async def close(self) -> None: ...


async def test_a_server_that_comes_up_late() -> None:
    away = SinkError(sink="db", reason="connection refused")
    sink = Late(away, away)
    await open_sink_patiently(sink)
    assert sink.opened


async def test_patience_ends() -> None:
    with pytest.raises(SinkError, match="refused"):
        await open_sink_patiently(Late(SinkError(sink="db", reason="refused")), patience_s=-1)


async def test_a_place_that_cannot_be_used_is_told_at_once() -> None:
    sink = Late(SinkReadOnly(sink="file", reason="read-only"))
    with pytest.raises(SinkReadOnly):
        await open_sink_patiently(sink)
    await sink.open()
    assert sink.opened
