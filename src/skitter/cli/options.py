"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="SECTION.NAME=VALUE",
        help="Give a setting on the command line; may be repeated.",
    ),
]
"""For `skitter.settings.parse_sets`, whose result goes to `load_settings`."""

Json = Annotated[bool, typer.Option("--json", help="For machines.")]
