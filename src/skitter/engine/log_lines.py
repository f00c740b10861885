"""Skitter's log lines in Scrapy's log: structlog's events become lines of the standard library's.

Only where nobody has set structlog up, as in `scrapy crawl`; a worker has logs of its own.
"""

from __future__ import annotations

from typing import Any

import structlog
from structlog.typing import EventDict

from skitter.masking import mask_value


def join_scrapy_log() -> None:
    """Send our lines where Scrapy's go."""
    if structlog.is_configured():
        return
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, _as_line],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def _as_line(_logger: Any, _method: str, event: EventDict) -> tuple[tuple[str], dict[str, Any]]:
    """The event, then what is known about it, with secrets masked."""
    told = {"exc_info": event.pop("exc_info")} if "exc_info" in event else {}
    text = str(event.pop("event", ""))
    shown = [f"{name}={mask_value(value, name)!r}" for name, value in event.items()]
    return (" ".join([text, *shown]),), told
