"""From sources to one checked tree, or one error that names every problem at once."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from skitter.errors import SettingsError
from skitter.masking import MASK, mask_text
from skitter.settings import sources
from skitter.settings.sources import Given, SourceProblem
from skitter.settings.tree import Settings


@dataclass(frozen=True)
class LoadedSettings:
    settings: Settings
    origins: dict[str, str]
    """Who gave each setting that is not at its default: `redis.url` → `REDIS_URL`."""


def load_settings(flags: Mapping[str, Any] | None = None) -> Settings:
    """Read and check every source. Flags are dotted (`{"redis.url": …}`) or nested.

    Raises SettingsError, which lists all problems.
    """
    return load_with_origins(flags).settings


def load_with_origins(flags: Mapping[str, Any] | None = None) -> LoadedSettings:
    """The same, and where each value came from."""
    given, problems = _gather(flags or {})
    known = set(sources.known_names())
    problems += [_stranger(name, value) for name, value in given.items() if name not in known]
    given = {name: value for name, value in given.items() if name in known}
    try:
        settings = Settings.model_validate(_nest(given))
    except ValidationError as error:
        problems += [_invalid(detail, given) for detail in error.errors()]
    if problems:
        raise SettingsError(problems=_join(problems))
    return LoadedSettings(settings, {name: value.origin for name, value in given.items()})


def parse_sets(assignments: Iterable[str]) -> dict[str, Any]:
    """Flags from `--set section.name=value`; the word `null` stands for no value."""
    flags: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals:
            problem = f"--set {mask_text(assignment)} is not of the form section.name=value"
            raise SettingsError(problems=problem)
        flags[name.strip()] = None if value == "null" else value
    return flags


def _gather(flags: Mapping[str, Any]) -> tuple[dict[str, Given], list[str]]:
    """All sources, later ones over earlier ones."""
    readers: tuple[Callable[[], dict[str, Given]], ...] = (
        sources.read_common_sinks,
        sources.read_file,
        sources.read_common_names,
        sources.read_environment,
        lambda: sources.read_flags(flags),
    )
    given: dict[str, Given] = {}
    problems: list[str] = []
    for read in readers:
        try:
            given |= read()
        except SourceProblem as problem:
            problems.append(str(problem))
    return given, problems


def _nest(given: Mapping[str, Given]) -> dict[str, dict[str, Any]]:
    """By section. All are there: the tree's own checks fill them with defaults."""
    nested: dict[str, dict[str, Any]] = {section: {} for section in Settings.model_fields}
    for name, value in given.items():
        section, _, key = name.partition(".")
        nested[section][key] = value.value
    return nested


def _stranger(name: str, given: Given) -> str:
    """A name that no setting has, in the words of the place that gave it, and the nearest one."""
    if name in Settings.model_fields:
        return f"{name} ({given.origin}) is a section: write its settings under it"
    spell = sources.env_name if given.origin.upper().startswith(sources.PREFIX) else str
    shown = given.origin if spell is sources.env_name else f"{name} ({given.origin})"
    near = _nearest(name)
    guess = f"; did you mean {spell(near)}?" if near else ""
    return f"{shown} is not a setting{guess}"


def _nearest(name: str) -> str | None:
    bare = name.upper().removeprefix(sources.PREFIX).replace("__", ".").lower()
    known = sources.known_names()
    whole = difflib.get_close_matches(bare, known, n=1, cutoff=0.75)
    if whole:
        return whole[0]
    by_key = {full.partition(".")[2]: full for full in reversed(known)}
    key = difflib.get_close_matches(bare.rpartition(".")[2], by_key, n=1, cutoff=0.75)
    return by_key[key[0]] if key else None


def _invalid(detail: Any, given: Mapping[str, Given]) -> str:
    name = ".".join(str(part) for part in detail["loc"][:2])
    message = detail["msg"].removeprefix("Value error, ").replace("Input should", "it should")
    if name not in given:
        return f"{name}: {message}"
    value = mask_text(repr(given[name].value))
    if name == "proxies.urls":  # what is wrong may be how the password is written
        value = re.sub(r"[^\s,'\"\[]+@", f"{MASK}@", value)
    return f"{name} ({given[name].origin}) is {value}: {message}"


def _join(problems: list[str]) -> str:
    """One problem is told in the same line; several are counted and listed."""
    if len(problems) == 1:
        return problems[0]
    return "\n- ".join([f"there are {len(problems)} problems", *problems])
