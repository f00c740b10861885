"""Skitter's log lines in Scrapy's log: structlog's events become lines of the standard library's.

Only where nobody has set structlog up, as in `scrapy crawl`; a worker has logs of its own. And a
line of Scrapy's that is made shorter everywhere: a site's failure is no fault in anybody's code.
"""

from __future__ import annotations

import logging
from typing import Any

import structlog
from scrapy import exceptions
from structlog.typing import EventDict

from skitter.engine.told import is_told
from skitter.masking import mask_value

_scraper_logger = logging.getLogger("scrapy.core.scraper")
_SITES_FAILURES = (
    exceptions.CannotResolveHostError,
    exceptions.DownloadCancelledError,
    exceptions.DownloadConnectionRefusedError,
    exceptions.DownloadFailedError,
    exceptions.DownloadTimeoutError,
    exceptions.ResponseDataLossError,
    exceptions.UnsupportedURLSchemeError,
)


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


def shorten_failures() -> None:
    """Tell of a site's failure in one line, without the libraries' traceback, unless at DEBUG."""
    _scraper_logger.addFilter(_shorten)


def _shorten(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, _SITES_FAILURES) and not is_told(_scraper_logger):
        record.msg = f"{record.getMessage()}: {type(error).__name__}: {error}"
        record.args = record.exc_info = None
    return True
