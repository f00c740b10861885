"""A backup of all that Skitter keeps, made while it runs, and the way back from it.

A folder: the store first, then the frontier, then the items (docs/decisions/0010-backup.md says
why in this order). It gets its name when it is whole. A restore checks every file before it
changes anything, and puts the frontier back last, so that nothing is crawled before the rest is
there.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import time
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from skitter import __version__
from skitter.frontier.copying import PAUSE_S, Copying
from skitter.frontier.opening import open_frontier
from skitter.orchestrator.errors import BackupError, RestoreRefused
from skitter.orchestrator.item_copies import copy_items, place_of, restore_items
from skitter.orchestrator.key_file import KeyFile, read_keys
from skitter.orchestrator.store_copies import copy_store, restore_store, store_is_empty

if TYPE_CHECKING:
    from skitter.orchestrator.duties import Services
    from skitter.settings import Settings

log = structlog.get_logger(__name__)

FORMAT = 1
MANIFEST, KEYS = "manifest.json", "frontier.keys"


@dataclass
class Manifest:
    """What a backup holds. left_out are sinks that have backups of their own."""

    format: int
    version: str
    made_at: str
    namespace: str
    shards: int
    server: str
    store: str
    keys: int = 0
    pause_s: float = 0.0
    items: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)


async def backup(services: Services, path: Path, *, longest_s: float = PAUSE_S) -> Manifest:
    """Copy all into a new folder; raises BackupError and FrontierError."""
    partial = path.with_name(f"{path.name}.partial")
    await asyncio.to_thread(_fresh_folder, partial, path)
    try:
        manifest = await _copy_all(services, partial, longest_s=longest_s)
        await asyncio.to_thread(_close, partial, path, manifest)
    except BaseException:
        await asyncio.to_thread(shutil.rmtree, partial, ignore_errors=True)
        raise
    log.info("backup made", path=str(path), keys=manifest.keys, pause_s=manifest.pause_s)
    return manifest


async def _copy_all(services: Services, folder: Path, *, longest_s: float) -> Manifest:
    shards = services.frontier.shards
    manifest = Manifest(
        format=FORMAT,
        version=__version__,
        made_at=datetime.now(UTC).isoformat(),
        namespace=shards.namespace,
        shards=shards.count,
        server=f"{shards.server.kind} {shards.server.version}",
        store=services.store.kind,
    )
    await copy_store(services.store, services.settings.store.url, folder)
    with KeyFile(folder / KEYS) as keys:
        waited_s = await Copying(services.frontier).copy(keys.write, longest_s=longest_s)
    manifest.keys, manifest.pause_s = keys.count, round(waited_s, 3)
    sinks = services.settings.items.sink
    manifest.items, manifest.left_out = await asyncio.to_thread(copy_items, sinks, folder)
    return manifest


async def restore(settings: Settings, path: Path, *, force: bool = False) -> dict[str, Any]:
    """Put all of a backup where the settings say; what was done.

    Raises BackupError for a backup that is not whole, and RestoreRefused where something stands
    that it would replace, unless force lets it be deleted.
    """
    begun = time.monotonic()
    manifest = await asyncio.to_thread(read_manifest, path)
    async with open_frontier(settings) as frontier:
        copying = Copying(frontier)
        if frontier.shards.count != manifest.shards:
            reason = f"the backup has {manifest.shards} shards, here are {frontier.shards.count}"
            raise RestoreRefused(reason=f"{reason}: set redis.shards")
        if not force:
            await _refuse_standing(settings, manifest, copying)
        await asyncio.to_thread(restore_items, settings.items.sink, path, manifest.items)
        await restore_store(settings.store.url, path, kind=manifest.store)
        await copying.clear()
        await frontier.shards.begin(frontier.config)
        keys = await copying.fill(read_keys(path / KEYS))
        requeued = await copying.revive()
    took_s = round(time.monotonic() - begun, 1)
    return {"keys": keys, "requeued": requeued, "took_s": took_s, **asdict(manifest)}


async def _refuse_standing(settings: Settings, manifest: Manifest, copying: Copying) -> None:
    if not await copying.is_empty():
        raise RestoreRefused(reason="there are jobs on the server already (--force deletes them)")
    if not await store_is_empty(settings.store.url):
        raise RestoreRefused(reason="the store holds jobs already (--force replaces them)")
    for name, place in place_of(settings.items.sink, manifest.items).items():
        if place.exists():
            raise RestoreRefused(reason=f"{place} is there already (--force replaces it by {name})")


def read_manifest(path: Path) -> Manifest:
    """A backup's manifest, with every file checked against it; raises BackupError."""
    try:
        found = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
        manifest = Manifest(**found)
    except (OSError, ValueError, TypeError) as error:
        raise BackupError(path=path, reason=f"its manifest cannot be read: {error}") from error
    if manifest.format != FORMAT:
        raise BackupError(path=path, reason=f"it is of format {manifest.format}, not {FORMAT}")
    for name, digest in manifest.files.items():
        try:
            whole = _digest(path / name) == digest
        except OSError as error:
            raise BackupError(path=path, reason=str(error)) from error
        if not whole:
            raise BackupError(path=path, reason=f"{name} is not what it was")
    return manifest


def _fresh_folder(partial: Path, path: Path) -> None:
    if path.exists():
        raise BackupError(path=path, reason="there is something of that name already")
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True, mode=0o700)
    except OSError as error:
        raise BackupError(path=path, reason=str(error)) from error


def _close(partial: Path, path: Path, manifest: Manifest) -> None:
    """Note the digests, see that all is on the disk, and give it its name."""
    files = sorted(file for file in partial.rglob("*") if file.is_file())
    manifest.files = {str(file.relative_to(partial)): _digest(file) for file in files}
    text = json.dumps(asdict(manifest), indent=2)
    (partial / MANIFEST).write_text(text + "\n", encoding="utf-8")
    for file in [*files, partial / MANIFEST]:
        with file.open("rb") as opened:
            os.fsync(opened.fileno())
    try:
        partial.rename(path)
    except OSError as error:
        raise BackupError(path=path, reason=str(error)) from error


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
