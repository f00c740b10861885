"""Schedules from YAML files: what a file says is added, changed, and goes when it is not there.

A file holds `schedules:`, by name. Schedules that were made by hand are left alone, and a file
that names one of those is told of in the log.
"""

from __future__ import annotations

import asyncio
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import structlog
import yaml

from skitter.errors import SkitterError
from skitter.orchestrator.errors import BadSchedule
from skitter.orchestrator.schedule import Schedule

if TYPE_CHECKING:
    from pathlib import Path

    from skitter.orchestrator.schedules import Schedules

log = structlog.get_logger(__name__)

KNOWN = {field.name for field in fields(Schedule)} - {"name", "source"}
MOST_BYTES = 1 << 20


class ScheduleFiles:
    """A folder of them. Files are read when they change."""

    def __init__(self, schedules: Schedules, folder: Path) -> None:
        self._schedules = schedules
        self._folder = folder
        self._seen: dict[str, tuple[int, int]] | None = None

    async def tend(self) -> int:
        """Take changes over; how many schedules were touched."""
        files = await asyncio.to_thread(self._list)
        if files == self._seen or (self._seen is None and not files and not self._folder.exists()):
            return 0
        wanted = await asyncio.to_thread(self._read, list(files))
        changed = await self._apply(wanted)
        self._seen = files
        return changed

    def _list(self) -> dict[str, tuple[int, int]]:
        paths = [*self._folder.glob("*.yaml"), *self._folder.glob("*.yml")]
        found = {}
        for path in sorted(paths):
            stat = path.stat()
            found[str(path)] = (stat.st_mtime_ns, stat.st_size)
        return found

    def _read(self, paths: list[str]) -> dict[str, list[Schedule] | None]:
        """The schedules of each file; None for one that cannot be read: what stands, stays."""
        found: dict[str, list[Schedule] | None] = {}
        for path in paths:
            try:
                found[path] = read_file(path)
            except BadSchedule as error:
                log.error("schedules not read", file=path, error=str(error))  # noqa: TRY400
                found[path] = None
        return found

    async def _apply(self, found: dict[str, list[Schedule] | None]) -> int:
        standing = {view.schedule.name: view.schedule for view in await self._schedules.list()}
        wanted = {schedule.name: schedule for rows in found.values() for schedule in rows or ()}
        changed = 0
        for schedule in wanted.values():
            changed += await self._take(schedule, standing.get(schedule.name))
        for name, schedule in standing.items():
            ours = schedule.source.startswith(str(self._folder))
            unread = found.get(schedule.source, ()) is None
            if ours and not unread and name not in wanted:
                await self._schedules.delete(name)
                log.info("schedule is gone with its file", schedule=name)
                changed += 1
        return changed

    async def _take(self, schedule: Schedule, standing: Schedule | None) -> int:
        try:
            if standing is None:
                await self._schedules.add(schedule)
            elif not standing.source:
                log.error("schedule was made by hand: the file's is left", schedule=schedule.name)
                return 0
            elif replace(standing, paused=schedule.paused) == schedule:
                return 0
            else:
                given = {name: getattr(schedule, name) for name in (*KNOWN, "source")}
                await self._schedules.change(schedule.name, **given)
        except SkitterError as error:
            log.error("schedule not taken", schedule=schedule.name, error=str(error))  # noqa: TRY400
            return 0
        log.info("schedule taken from its file", schedule=schedule.name, file=schedule.source)
        return 1


def read_file(source: str) -> list[Schedule]:
    """The schedules of a file; raises BadSchedule."""
    try:
        with open(source, encoding="utf-8") as file:  # noqa: PTH123 - the name is kept as it is
            text = file.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise BadSchedule(problem=f"{source} has more than {MOST_BYTES} characters")
        found = yaml.safe_load(text) or {}
    except (OSError, yaml.YAMLError, UnicodeError) as error:
        raise BadSchedule(problem=f"cannot read {source}: {error}") from error
    rows = found.get("schedules") if isinstance(found, dict) else None
    if not isinstance(rows, dict):
        raise BadSchedule(problem=f"{source} must hold `schedules:`, by name")
    return [_schedule(str(name), row, source) for name, row in rows.items()]


def _schedule(name: str, row: Any, source: str) -> Schedule:
    if not isinstance(row, dict):
        raise BadSchedule(problem=f"{source}: {name} must hold names and values")
    unknown = sorted(set(row) - KNOWN)
    if unknown:
        raise BadSchedule(problem=f"{source}: {name}: unknown {', '.join(unknown)}")
    try:
        schedule = Schedule(name=name, source=source, **row)
    except TypeError as error:
        raise BadSchedule(problem=f"{source}: {name}: {error}") from error
    schedule.check()
    return schedule
