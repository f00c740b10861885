"""Names of files and folders that outlive the machine: each is written in the folder above it."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from skitter.errors import SinkError, SinkFull, SinkReadOnly

if TYPE_CHECKING:
    from pathlib import Path

_KINDS: dict[int, type[SinkError]] = {
    errno.ENOSPC: SinkFull,
    errno.EDQUOT: SinkFull,
    errno.EACCES: SinkReadOnly,
    errno.EPERM: SinkReadOnly,
    errno.EROFS: SinkReadOnly,
    errno.ENOTDIR: SinkReadOnly,
    errno.EEXIST: SinkReadOnly,
}


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, where they are missing."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def explain(sink: str, error: OSError) -> SinkError:
    """An error of the file system as one of a sink's."""
    return _KINDS.get(error.errno or 0, SinkError)(sink=sink, reason=str(error))
