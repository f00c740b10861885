"""Items in a backup: SQLite files and folders of files. Other sinks have backups of their own.

They are copied after the frontier: what it says is done is in them. What they hold beyond that
comes again, and replaces itself.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from skitter.masking import mask_text
from skitter.orchestrator.store_copies import copy_sqlite, put_file
from skitter.sinks.files import FORMS

if TYPE_CHECKING:
    from collections.abc import Sequence

SQLITE = "sqlite:"


def copy_items(sinks: Sequence[str], folder: Path) -> tuple[list[str], list[str]]:
    """Copy what lies in files; names of the copies, and sinks that were left out."""
    copied, left_out = [], []
    for number, sink in enumerate(sinks):
        scheme, _, rest = sink.partition(":")
        name, source = f"items-{number}", Path(rest.partition("?")[0])
        if sink.startswith(SQLITE) and source.exists():
            copy_sqlite(source, folder / name)
            copied.append(name)
        elif scheme in FORMS and source.is_dir():
            shutil.copytree(source, folder / name)
            copied.append(name)
        elif not sink.startswith(SQLITE) and scheme not in FORMS:
            left_out.append(mask_text(sink))
    return copied, left_out


def place_of(sinks: Sequence[str], copies: Sequence[str]) -> dict[str, Path]:
    """Where each copy belongs, by the sinks that the settings name now, in their order."""
    places = {}
    for number, sink in enumerate(sinks):
        name = f"items-{number}"
        if name in copies:
            places[name] = Path(sink.partition(":")[2].partition("?")[0])
    return places


def restore_items(sinks: Sequence[str], folder: Path, copies: Sequence[str]) -> None:
    """Put the copies where the settings say, in place of what is there."""
    for name, place in place_of(sinks, copies).items():
        source = folder / name
        if source.is_dir():
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(source, place)
        else:
            put_file(source, place)
