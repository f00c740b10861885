"""Options of a job, for the commands that submit one, and the submission that they make."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from skitter.frontier import Scope

Texts = list[str] | None

Args = Annotated[
    Texts, typer.Option("--arg", "-a", metavar="NAME=VALUE", help="An argument of the spider.")
]
MaxPages = Annotated[
    int | None, typer.Option(min=1, help="End after so many pages, exactly, over all workers.")
]
MaxDepth = Annotated[int | None, typer.Option(min=0, help="How many links away from a seed.")]
MaxPerHost = Annotated[int | None, typer.Option(min=1, help="Requests accepted for one host.")]
Expires = Annotated[
    str | None, typer.Option(metavar="30m", help="End it after so long: 90s, 30m, 12h, 7d.")
]
Priority = Annotated[int, typer.Option(help="Higher is sooner.")]
Delay = Annotated[
    float | None, typer.Option("--delay", min=0, help="Seconds between requests to a host.")
]
Concurrency = Annotated[
    int | None, typer.Option(min=1, help="Requests at once to a host that has no delay.")
]
NoRobots = Annotated[bool, typer.Option("--no-robots", help="Do not read robots.txt.")]
Domains = Annotated[
    Texts, typer.Option("--domain", help="Stay on this domain and below it; may be repeated.")
]
Allow = Annotated[
    Texts, typer.Option("--allow", metavar="REGEX", help="Only URLs that match; may be repeated.")
]
Deny = Annotated[
    Texts, typer.Option("--deny", metavar="REGEX", help="No URL that matches; may be repeated.")
]
Labels = Annotated[
    Texts, typer.Option("--label", metavar="NAME=VALUE", help="To find it again by.")
]
Attrs = Annotated[
    Texts, typer.Option("--attr", metavar="NAME=VALUE", help="Handed through to every item.")
]
Sinks = Annotated[
    Texts,
    typer.Option("--sink", metavar="URL", help="Where items go, in place of items.sink."),
]
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def pairs(option: str, texts: Texts) -> dict[str, str]:
    """Names and values of an option that may be repeated."""
    found = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise typer.BadParameter(f"{option} {text} is not NAME=VALUE")
        found[name] = value
    return found


def attrs_of(texts: Texts) -> dict[str, Any]:
    """The same, with values that are JSON where they can be read as such."""
    return {name: _json(value) for name, value in pairs("--attr", texts).items()}


def scope_of(domains: Texts, allow: Texts, deny: Texts) -> Scope:
    """Which URLs belong to the job."""
    for option, patterns in (("--allow", allow), ("--deny", deny)):
        for pattern in patterns or []:
            _check_pattern(option, pattern)
    names = tuple(domain.lower() for domain in domains or [])
    return Scope(allowed_domains=names, allow=tuple(allow or ()), deny=tuple(deny or ()))


def seconds_of(option: str, text: str | None) -> float | None:
    """A span such as 30m in seconds."""
    if text is None:
        return None
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smhd])", text)
    if not found:
        raise typer.BadParameter(f"{option} {text} is not like 90s, 30m, 12h or 7d")
    return float(found[1]) * _UNITS[found[2]]


def read_submission(path: Path) -> dict[str, Any]:
    """The fields of a submission, from a YAML or JSON file."""
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise typer.BadParameter(f"{path} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise typer.BadParameter(f"{path} holds no fields of a job")
    return found


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _check_pattern(option: str, pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise typer.BadParameter(f"{option} {pattern}: {error}") from error
