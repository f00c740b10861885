"""The commands by name, in the order of their help, each loaded when it is asked for.

Most need libraries that others do not: nobody waits for the API's to see the settings.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from skitter.cli.recording import recorded

COMMANDS = {
    "crawl": "crawl:crawl",
    "up": "up:up",
    "init": "init:init",
    "demo": "demo:demo",
    "doctor": "doctor:doctor",
    "status": "status:status",
    "jobs": "jobs_submit:app",
    "push": "push:push",
    "items": "items:items",
    "history": "history:history",
    "export": "export:export",
    "finalise": "export:finalise",
    "quality": "quality:app",
    "quarantine": "quarantine:app",
    "recipe": "recipe:app",
    "hosts": "hosts:app",
    "dlq": "dlq:app",
    "schedule": "schedule:app",
    "alerts": "alerts:app",
    "worker": "worker:worker",
    "workers": "worker:workers",
    "orchestrator": "orchestrator:app",
    "api": "api:api",
    "keys": "keys:app",
    "audit": "audit:audit",
    "backup": "backup:backup",
    "restore": "backup:restore",
    "lab": "lab:app",
}
"""By name: a module of this package, and what in it is a command or a group of them."""


class Commands(TyperGroup):
    """A group that knows its commands before it has them."""

    def list_commands(self, ctx: Any) -> list[str]:
        own = [name for name in super().list_commands(ctx) if name not in COMMANDS]
        return [*COMMANDS, *own]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            self.commands[cmd_name] = recorded(_load(cmd_name), cmd_name)
        return super().get_command(ctx, cmd_name)


def _load(name: str) -> Any:
    module, _, attribute = COMMANDS[name].partition(":")
    found = getattr(import_module(f"skitter.cli.{module}"), attribute)
    host = typer.Typer(add_completion=False, callback=lambda: None)
    if isinstance(found, typer.Typer):
        host.add_typer(found, name=name)
    else:
        host.command(name)(found)
    return get_group(host).commands[name]
