"""Logging: structlog in front, the standard library's logging underneath.

Everything ends in one formatter, Skitter's own lines and those of any library alike, so that
all of them carry the context (worker, job, host, request) and all of them are masked: the
secrets in messages, values and tracebacks. Text for people, JSON for machines, on stderr:
stdout belongs to a command's result. `get_logger` is structlog's, under one name.
"""

from __future__ import annotations

import copy
import logging
import logging.config
import os
import sys
from contextlib import AbstractContextManager
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, Literal

import structlog
from structlog.typing import EventDict, Processor

from skitter.errors import SettingsError
from skitter.masking import mask_text, mask_value
from skitter.settings import LogSettings

Format = Literal["text", "json"]

get_logger = structlog.stdlib.get_logger

_CONTEXT = ("worker", "job", "host", "request")
# Last in a line of JSON and never worth masking: names and times that we set ourselves.
_OWN_KEYS = frozenset({"timestamp", "level", "logger"})


def setup_logs(log: LogSettings, *, worker: str | None = None) -> None:
    """Set up logging for this process; called again, it replaces what it set up before.

    `worker` stands on every line, those of other threads too.
    """
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.PositionalArgumentsFormatter(),
            *_enrich(worker),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    _remove_own_handlers()
    if log.config is not None:
        _configure_from_file(log.config, worker)
    else:
        _configure_root(log, worker)


def log_context(
    *,
    job: str | None = None,
    worker: str | None = None,
    host: str | None = None,
    request: str | None = None,
) -> AbstractContextManager[None]:
    """Names that every line inside the block carries, in this task and those it starts."""
    names = {"job": job, "worker": worker, "host": host, "request": request}
    given = {name: value for name, value in names.items() if value is not None}
    return structlog.contextvars.bound_contextvars(**given)


def make_formatter(
    kind: Format, *, worker: str | None = None, colors: bool = False
) -> logging.Formatter:
    renderer: Processor = structlog.processors.JSONRenderer(ensure_ascii=False)
    if kind == "text":
        renderer = structlog.dev.ConsoleRenderer(
            colors=colors,
            sort_keys=False,
            exception_formatter=structlog.dev.plain_traceback,
        )
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[structlog.stdlib.ExtraAdder(), *_enrich(worker)],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            _mask,
            renderer,
        ],
    )


def _enrich(worker: str | None) -> list[Processor]:
    def add_worker(_logger: Any, _method: str, event: EventDict) -> EventDict:
        if worker is not None:
            event.setdefault("worker", worker)
        return event

    return [
        structlog.contextvars.merge_contextvars,
        add_worker,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.StackInfoRenderer(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]


def _mask(_logger: Any, _method: str, event: EventDict) -> EventDict:
    """Mask all values, and put what identifies a line before what it says."""
    first = ("timestamp", "level", "event", "logger", *_CONTEXT)
    order = [*(key for key in first if key in event), *(key for key in event if key not in first)]
    return {key: event[key] if key in _OWN_KEYS else mask_value(event[key], key) for key in order}


def _configure_root(log: LogSettings, worker: str | None) -> None:
    on_terminal = sys.stderr.isatty()
    kind: Format = "text" if log.format == "auto" and on_terminal else "json"
    if log.format != "auto":
        kind = log.format
    stream = logging.StreamHandler(sys.stderr)
    stream.setFormatter(make_formatter(kind, worker=worker, colors=on_terminal))
    handlers: list[logging.Handler] = [stream]
    if log.file is not None:
        handlers.append(_file_handler(log, worker))
    for handler in handlers:
        handler.set_name(f"skitter-{len(logging.root.handlers)}")
        logging.root.addHandler(handler)
    logging.root.setLevel(log.level.upper())


def _file_handler(log: LogSettings, worker: str | None) -> logging.Handler:
    path = Path(str(log.file).replace("{pid}", str(os.getpid())))
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = RotatingFileHandler(
        path, maxBytes=log.file_max_bytes, backupCount=log.file_backups, encoding="utf-8"
    )
    # A file is read by machines, unless text was asked for.
    kind: Format = "text" if log.format == "text" else "json"
    handler.setFormatter(make_formatter(kind, worker=worker))
    return handler


def _remove_own_handlers() -> None:
    for handler in list(logging.root.handlers):
        if (handler.get_name() or "").startswith("skitter-"):
            logging.root.removeHandler(handler)
            handler.close()


def _configure_from_file(path: Path, worker: str | None) -> None:
    import yaml  # noqa: PLC0415 - most processes read no such file

    try:
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
        config.setdefault("disable_existing_loggers", False)
        formatters = config.setdefault("formatters", {})
        for kind in ("text", "json"):
            formatters.setdefault(kind, {"()": make_formatter, "kind": kind, "worker": worker})
        logging.config.dictConfig(config)
    except (OSError, ValueError, AttributeError, yaml.YAMLError) as error:
        problem = f"log.config: {path} is not a usable logging.yaml: {error}"
        raise SettingsError(problems=problem) from error
    for handler in _all_handlers():
        if not isinstance(handler.formatter, structlog.stdlib.ProcessorFormatter):
            handler.setFormatter(_MaskingFormatter(handler.formatter or logging.Formatter()))


def _all_handlers() -> list[logging.Handler]:
    loggers = [logging.root, *(logging.getLogger(name) for name in logging.root.manager.loggerDict)]
    return list({id(handler): handler for each in loggers for handler in each.handlers}.values())


class _MaskingFormatter(logging.Formatter):
    """Another's formatter, made to read structlog's events and to show no secrets."""

    def __init__(self, inner: logging.Formatter) -> None:
        super().__init__()
        self._inner = inner

    def format(self, record: logging.LogRecord) -> str:
        event: Any = record.msg
        if isinstance(event, dict):
            record = copy.copy(record)
            record.msg, record.args = _as_line(event), None
        return mask_text(self._inner.format(record))


def _as_line(event: dict[str, Any]) -> str:
    full = structlog.processors.format_exc_info(None, "", dict(event))
    shown = {key: mask_value(value, key) for key, value in full.items() if key[0] != "_"}
    text, traceback = shown.pop("event", ""), shown.pop("exception", None)
    pairs = (f"{key}={value!r}" for key, value in shown.items() if key not in _OWN_KEYS)
    line = " ".join([str(text), *pairs])
    return f"{line}\n{traceback}" if traceback else line
