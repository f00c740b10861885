"""docs/cli.md is what the commands say, and each command says what it should."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from skitter.cli.main import app
from skitter.cli.reference import commands, render_reference

DOCS = Path(__file__).parents[3] / "docs"
WITHOUT_JSON = {
    "api": "it serves until it is told to end, and tells what happens in its log",
    "worker": "the same",
    "orchestrator": "the same",
    "reference": "it writes a page of the docs, and is hidden",
}
"""Commands without a result that a machine could read, and why."""


def test_the_page_is_up_to_date() -> None:
    assert (DOCS / "cli.md").read_text() == render_reference(app), "run: make docs"


@pytest.mark.parametrize(("name", "command"), list(commands(app)))
def test_every_command_tells_machines_too(name: str, command: Any) -> None:
    options = {option for param in command.params for option in param.opts}
    assert command.help, name
    assert ("--json" in options) != (name in WITHOUT_JSON), name


def test_the_walk_meets_every_command() -> None:
    """One that is not met is not checked; groups in groups would not be."""
    met = {name for name, _ in commands(app)}
    assert met >= {*WITHOUT_JSON, "crawl", "jobs submit", "quarantine show", "schedule delete"}
    root: Any = get_command(app)
    groups = [root.get_command(None, name) for name in root.list_commands(None)]
    inner = [each for group in groups for each in getattr(group, "commands", {}).values()]
    assert not [each.name for each in inner if hasattr(each, "commands")]
