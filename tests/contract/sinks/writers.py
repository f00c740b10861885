"""Processes that write items; see writer.py."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.contract.sinks.items import ROOT
from tests.servers.programs import die_with_parent

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def writer(
    url: str, name: str, *, puts: int, size: int, module: str = "writer"
) -> Iterator[subprocess.Popen[str]]:
    """A process that puts items, and prints the ids of each put when it has returned."""
    program = f"tests.contract.sinks.{module}"
    command = [sys.executable, "-m", program, url, name, str(puts), str(size)]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=die_with_parent,  # noqa: PLW1509 - one call to the kernel
    )
    with process:
        try:
            yield process
        finally:
            process.kill()
