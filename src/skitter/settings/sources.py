"""Where values come from: skitter.yaml, common names, SKITTER_* variables, flags.

Each source is read into flat dotted names, `redis.url`, with the place that gave the value in
its own words, so that messages can name it. Every process reads them at its start, so what takes
long to load, and is seldom needed, is loaded when it is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

from skitter.settings.section import Section
from skitter.settings.tree import Settings

PREFIX = "SKITTER_"
DEFAULT_FILE = "skitter.yaml"
# Names that other tools have made common; the last one given wins, SKITTER_* names win over all.
COMMON_NAMES = {
    "REDIS_URL": "redis.url",
    "WORKER_ID": "worker.id",
    "SKITTER_WORKER_ID": "worker.id",
}
# Variables that are about Skitter but are no settings.
RESERVED = frozenset({"SKITTER_CONFIG", "SKITTER_REQUIRE_SERVERS", *COMMON_NAMES})


@dataclass(frozen=True)
class Given:
    """A value, and who gave it: `skitter.yaml`, `REDIS_URL`, `flag`."""

    value: Any
    origin: str


class SourceProblem(Exception):
    """A source that cannot be read at all; its text is the problem in plain words."""


def sections() -> dict[str, type[Section]]:
    """Every section's class by its name, in the order of the tree."""
    return {name: field.annotation for name, field in Settings.model_fields.items()}  # type: ignore[misc]


def known_names() -> list[str]:
    """Every setting's dotted name, in the order of the tree."""
    return [f"{name}.{key}" for name, section in sections().items() for key in section.model_fields]


def env_name(name: str) -> str:
    return PREFIX + name.replace(".", "__").upper()


def flatten(values: Mapping[Any, Any], prefix: str = "") -> dict[str, Any]:
    """Nested mappings as dotted names; an empty section says nothing."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{name}.")
        elif value is not None or name not in Settings.model_fields:
            flat[name] = value
    return flat


def read_file() -> dict[str, Given]:
    named = os.environ.get("SKITTER_CONFIG")
    path = Path(named or DEFAULT_FILE)
    if not path.is_file():
        if named:
            raise SourceProblem(f"SKITTER_CONFIG names {path}, which is not a file")
        return {}
    values = _read_yaml(path)
    if not isinstance(values, Mapping):
        raise SourceProblem(f"{path} should hold sections with settings")
    return {name: Given(value, str(path)) for name, value in flatten(values).items()}


def _read_yaml(path: Path) -> Any:
    import yaml  # noqa: PLC0415 - most processes have no such file

    try:
        return yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (yaml.YAMLError, OSError, UnicodeDecodeError) as error:
        raise SourceProblem(f"{path} cannot be read: {error}") from error


def read_common_names() -> dict[str, Given]:
    return {
        name: Given(os.environ[variable], variable)
        for variable, name in COMMON_NAMES.items()
        if os.environ.get(variable)
    }


def read_common_sinks() -> dict[str, Given]:
    """Databases by their common names. A project may have them for other ends: a file wins."""
    given = {
        name: url
        for name, url in (
            ("MONGODB_URI", _mongo_url(os.environ)),
            ("POSTGRES_HOST", _postgres_url(os.environ)),
        )
        if url
    }
    return {"items.sink": Given(list(given.values()), ", ".join(given))} if given else {}


def _mongo_url(environment: Mapping[str, str]) -> str:
    """MONGODB_URI, with DATABASE_NAME for the database where it names none."""
    url, name = environment.get("MONGODB_URI", ""), environment.get("DATABASE_NAME", "")
    parts = urlsplit(url)
    if not url or not name or parts.path.strip("/"):
        return url
    return urlunsplit(parts._replace(path=f"/{quote(name)}"))


def _postgres_url(environment: Mapping[str, str]) -> str:
    """POSTGRES_HOST, _PORT, _USER, _PASSWORD and _DB as one URL."""
    named = {
        name: environment.get(f"POSTGRES_{name}", "")
        for name in ("HOST", "PORT", "USER", "PASSWORD", "DB")
    }
    if not named["HOST"]:
        return ""
    password = f":{quote(named['PASSWORD'], safe='')}" if named["PASSWORD"] else ""
    user = f"{quote(named['USER'], safe='')}{password}@" if named["USER"] else ""
    port = f":{named['PORT']}" if named["PORT"] else ""
    return f"postgresql://{user}{named['HOST']}{port}/{quote(named['DB'] or named['USER'])}"


def read_environment() -> dict[str, Given]:
    """SKITTER_* variables, in any case. An empty one says nothing, `null` means no value."""
    given: dict[str, Given] = {}
    for variable, value in os.environ.items():
        upper = variable.upper()
        if not upper.startswith(PREFIX) or upper in RESERVED:
            continue
        section, _, name = upper.removeprefix(PREFIX).lower().partition("__")
        if section not in Settings.model_fields:
            given[variable] = Given(value, variable)
        elif value:
            full = ".".join((section, *name.split("__"))) if name else section
            given[full] = Given(None if value == "null" else value, env_name(full))
    return given


def read_flags(flags: Mapping[str, Any]) -> dict[str, Given]:
    return {name: Given(value, "flag") for name, value in flatten(flags).items()}
