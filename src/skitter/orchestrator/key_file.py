"""A file of copied keys: msgpack, each with its length before it, and the end marked."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Self

import ormsgpack

from skitter.frontier.copying import Copied
from skitter.orchestrator.errors import BackupError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEAD = b"skitter keys 1\n"
LENGTH = struct.Struct("<Q")
AT_ONCE, ENOUGH_BYTES = 200, 4 << 20


class KeyFile:
    """Written batch by batch; it is whole only with the mark at its end."""

    def __init__(self, path: Path) -> None:
        self.count = 0
        self._file = path.open("xb")
        self._file.write(HEAD)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._file.write(LENGTH.pack(0))
        self._file.close()

    def write(self, batch: list[Copied]) -> None:
        """Add keys."""
        for one in batch:
            data = ormsgpack.packb([one.shard, one.name, one.expires_ms, one.form])
            self._file.write(LENGTH.pack(len(data)) + data)
        self.count += len(batch)


def read_keys(path: Path) -> Iterator[list[Copied]]:
    """The keys of a file, some at a time; raises BackupError where it is cut off."""
    with path.open("rb") as file:
        if file.read(len(HEAD)) != HEAD:
            raise BackupError(path=path, reason="it is no file of keys")
        batch: list[Copied] = []
        size = 0
        while True:
            head = file.read(LENGTH.size)
            if len(head) < LENGTH.size:
                raise BackupError(path=path, reason="it ends too soon")
            length = LENGTH.unpack(head)[0]
            if length == 0:
                break
            batch.append(Copied(*ormsgpack.unpackb(file.read(length))))
            size += length
            if len(batch) >= AT_ONCE or size >= ENOUGH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch
