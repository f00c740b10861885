"""A sink, however long its server takes to come up."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import structlog

from skitter.errors import SinkError
from skitter.intake.signals import Backoff

if TYPE_CHECKING:
    from skitter.sinks import Sink

log = structlog.get_logger(__name__)

PATIENCE_S = 60.0


async def open_sink_patiently(sink: Sink, *, patience_s: float = PATIENCE_S) -> None:
    """Open a sink as soon as its server is there, and say what is waited for until then.

    Raises SinkError when patience ends, and at once where waiting cannot help: errors of a kind
    of their own (a file that is read-only, an unknown scheme) are about the place itself.
    """
    ends_at, backoff = time.monotonic() + patience_s, Backoff()
    while True:
        try:
            await sink.open()
        except SinkError as error:
            if type(error) is not SinkError or time.monotonic() > ends_at:
                raise
            log.warning("the sink is not there yet", sink=error.sink, reason=error.reason)
            await backoff.pause()
        else:
            return
