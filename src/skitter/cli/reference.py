"""docs/cli.md, written from the commands themselves; `make docs` runs it, and a test holds it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from typer.main import get_command

if TYPE_CHECKING:
    from collections.abc import Iterator

    import typer

HEAD = """# The command line

Written by `make docs` from the commands themselves; `skitter COMMAND --help` says the same.

Commands take `--set SECTION.NAME=VALUE` for any of the [settings](settings.md), and those that
tell something take `--json`. Results go to stdout, all else to stderr. On a terminal progress is
drawn in place, elsewhere told in lines; `NO_COLOR=1` leaves colours out.

| exit code | |
|---|---|
| 0 | fine |
| 1 | an error, told on stderr |
| 2 | wrong usage |
| 3 | a job ended, but not as finished: failed, cancelled, expired, quality failed |
| 130 | Ctrl-C |
"""
ASIDE = {"sets", "help"}
_EXAMPLE = re.compile(r"\n*Examples?:\s*", re.MULTILINE)


def render_reference(app: typer.Typer) -> str:
    """The page."""
    found = _commands(app)
    parts = [HEAD, *(part for name in sorted(found) for part in _of(name, found[name]))]
    return "\n".join(parts)


def commands(app: typer.Typer) -> Iterator[tuple[str, Any]]:
    """Every command by its whole name, those of groups included."""
    for name, command in sorted(_commands(app).items()):
        inner: dict[str, Any] = getattr(command, "commands", {})
        if not inner or getattr(command, "invoke_without_command", False):
            yield name, command
        for each in sorted(inner):
            yield f"{name} {each}", inner[each]


def _commands(app: typer.Typer) -> dict[str, Any]:
    root: Any = get_command(app)
    return {name: root.get_command(None, name) for name in root.list_commands(None)}


def _of(name: str, command: Any) -> Iterator[str]:
    if command.hidden:
        return
    yield f"## skitter {name}\n"
    yield _told(command)
    for inner in sorted(getattr(command, "commands", {})):
        yield f"### skitter {name} {inner}\n"
        yield _told(command.commands[inner])


def _told(command: Any) -> str:
    text, examples = command.help or "", ""
    found = _EXAMPLE.search(text)
    if found:
        text, examples = text[: found.start()], text[found.end() :]
    parts = [_prose(text)] if text.strip() else []
    if examples:
        lines = [line.strip() for line in examples.splitlines() if line.strip()]
        parts.append("```console\n" + "\n".join(f"$ {line}" for line in lines) + "\n```\n")
    rows = [row for param in command.params if (row := _row(param))]
    if rows:
        parts.append("| | |\n|---|---|\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def _prose(text: str) -> str:
    paragraphs = [" ".join(part.split()) for part in text.strip().split("\n\n")]
    return "\n\n".join(paragraphs) + "\n"


def _row(param: Any) -> str:
    if param.name in ASIDE or getattr(param, "hidden", False):
        return ""
    if type(param).__name__ == "TyperArgument":
        name = param.metavar or param.name.upper()
    else:
        value = "" if param.is_flag else f" {param.metavar or _kind(param.name)}"
        name = ", ".join(param.opts) + value
    told = " ".join((param.help or "").split())
    default = param.default
    if default not in (None, False, "", ()) and not callable(default):
        told = f"{told} ({getattr(default, 'value', default)})".strip()
    return f"| `{name.replace('|', chr(92) + '|')}` | {told.replace('|', chr(92) + '|')} |"


def _kind(name: str) -> str:
    """What stands for a value whose option says nothing of it."""
    return name.removesuffix("_s").replace("_", "-").upper().rpartition("-")[2]
