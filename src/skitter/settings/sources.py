"""Where values come from: skitter.yaml, common names, SKITTER_* variables, flags.

Each source is read into flat dotted names, `redis.url`, with the place that gave the value in
its own words, so that messages can name it. pydantic-settings does the reading.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

import yaml
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    SettingsConfigDict,
    YamlConfigSettingsSource,
)
from pydantic_settings import SettingsError as UnreadableSource

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


class _Tree(Settings, BaseSettings):
    """The tree as pydantic-settings wants it: it tells the environment's reader the names."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        env_ignore_empty=True,
        env_parse_none_str="null",
    )


def known_names() -> list[str]:
    """Every setting's dotted name, in the order of the tree."""
    return [
        f"{section}.{name}"
        for section, field in Settings.model_fields.items()
        for name in type(field.default).model_fields
    ]


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
    try:
        values = YamlConfigSettingsSource(_Tree, yaml_file=path)()
    except (yaml.YAMLError, OSError, UnicodeDecodeError) as error:
        raise SourceProblem(f"{path} cannot be read: {error}") from error
    except (TypeError, ValueError) as error:
        raise SourceProblem(f"{path} should hold sections with settings") from error
    return {name: Given(value, str(path)) for name, value in flatten(values).items()}


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
    try:
        values = flatten(EnvSettingsSource(_Tree)())
    except UnreadableSource as error:
        raise SourceProblem(f"the environment cannot be read: {error}") from error
    return {name: Given(value, env_name(name)) for name, value in values.items()} | _strangers()


def _strangers() -> dict[str, Given]:
    """SKITTER_* variables that the reader passed over, because no section has their name."""
    sections = {env_name(section) for section in Settings.model_fields}
    return {
        variable: Given(value, variable)
        for variable, value in os.environ.items()
        if (upper := variable.upper()).startswith(PREFIX)
        and upper not in RESERVED
        and upper.partition("__")[0] not in sections
    }


def read_flags(flags: Mapping[str, Any]) -> dict[str, Given]:
    return {name: Given(value, "flag") for name, value in flatten(flags).items()}
