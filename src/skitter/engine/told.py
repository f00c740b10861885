"""Whether a log line would reach anybody: Scrapy's loggers let everything through to handlers."""

from __future__ import annotations

import logging


def is_told(logger: logging.Logger, level: int = logging.DEBUG) -> bool:
    """Whether some handler takes lines of this level."""
    if not logger.isEnabledFor(level):
        return False
    current: logging.Logger | None = logger
    while current is not None:
        for handler in current.handlers:
            if handler.level <= level:
                return True
        current = current.parent if current.propagate else None
    return False
