"""docs/cli.md is what the commands say, and each command says what it should."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skitter.cli.main import app
from skitter.cli.reference import commands, render_reference

DOCS = Path(__file__).parents[3] / "docs"
RUNNING = {"api", "worker", "orchestrator", "reference"}
"""They run until they are told to end, or write a page, and have no result to tell."""
PLAIN = {"quarantine discard", "quarantine show", "schedule delete"}
"""What they say is the same for machines: a count, the values themselves, or nothing."""


def test_the_page_is_up_to_date() -> None:
    assert (DOCS / "cli.md").read_text() == render_reference(app), "run: make docs"


@pytest.mark.parametrize(("name", "command"), list(commands(app)))
def test_every_command_tells_machines_too(name: str, command: Any) -> None:
    options = {option for param in command.params for option in param.opts}
    assert command.help, name
    assert name in RUNNING | PLAIN or "--json" in options, name
