"""Which commands change something: those are written down in the audit log, as the API's changes.

Commands know nothing of it. One that is not named here as unrecorded is taken to change something.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_READING = {
    "doctor", "status", "items", "history", "workers", "quality check", "recipe check",
    "jobs list", "jobs show", "jobs peek", "jobs errors", "jobs wait",
    "quarantine list", "quarantine show", "quarantine check",
    "hosts list", "hosts show", "dlq list", "dlq group", "dlq show",
    "schedule list", "schedule show", "schedule ticks", "schedule history",
    "alerts list", "alerts rules", "orchestrator status", "keys list", "audit",
}  # fmt: skip
_RUNNING = {"up", "worker", "api", "lab serve"}  # what is asked of them is written down by them
_ELSEWHERE = {"init", "demo", "export", "backup"}  # in folders and files of their own
UNRECORDED = frozenset(_READING | _RUNNING | _ELSEWHERE)


def recorded(command: Any, path: str) -> Any:
    """The same command, or group of them, whose changes are written down."""
    inner: dict[str, Any] | None = getattr(command, "commands", None)
    for name, each in (inner or {}).items():
        recorded(each, f"{path} {name}")
    if inner is None and path not in UNRECORDED:
        command.callback = _recording(command, path)
    return command


def _recording(command: Any, path: str) -> Callable[..., Any]:
    act: Callable[..., Any] = command.callback

    @wraps(act)
    def change(**values: Any) -> Any:
        from skitter.cli.written import Change, written  # noqa: PLC0415 - the SQL toolkit

        given = {
            param.name: values[param.name]
            for param in command.params
            if values.get(param.name) not in (None, (), [], param.default)
        }
        places = [p.name for p in command.params if p.param_type_name == "argument"]
        named = [given.pop(name) for name in places if name in given]
        with written(Change(path, named, given)):
            return act(**values)

    return change
