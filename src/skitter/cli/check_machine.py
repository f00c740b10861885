"""The doctor's look at the machine: Python, packages, disk, file descriptors, cores."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from skitter import __version__
from skitter.cli.finding import Finding, note, ok, problem, warning
from skitter.worker.cgroup import cores, memory_limit

if TYPE_CHECKING:
    from skitter.settings import Settings

EXTRAS = {
    "postgres": ("psycopg", "items and history in PostgreSQL"),
    "mongo": ("pymongo", "items in MongoDB"),
    "parquet": ("pyarrow", "Parquet files"),
    "xlsx": ("xlsxwriter", "XLSX exports"),
}
OLDEST = (3, 11)
LOW_BYTES, EMPTY_BYTES = 2 << 30, 200 << 20
FEW_FILES = 1024


def check_machine(settings: Settings) -> list[Finding]:
    """All that needs no server."""
    return [
        check_python(sys.version_info[:2]),
        check_scrapy(),
        *check_extras(),
        check_disk(settings.embedded.dir),
        check_files(_soft_limit(), settings.worker.concurrency),
        _machine(settings),
    ]


def check_python(version: tuple[int, int]) -> Finding:
    """Whether this Python is one that Skitter runs on."""
    told = f"Python {platform.python_version()} on {sys.platform}, Skitter {__version__}"
    if version < OLDEST:
        return problem("python", told, "install Python 3.11 or later")
    return ok("python", told)


def check_scrapy() -> Finding:
    """Scrapy, and whether it is one that the engines were made for."""
    version = importlib.metadata.version("scrapy")
    told = f"Scrapy {version}"
    if not version.startswith("2.19."):
        return problem("scrapy", told, "pip install 'scrapy>=2.19,<2.20'")
    return ok("scrapy", told)


def check_extras() -> list[Finding]:
    """What is there, and how to have what is not."""
    there = [name for name, (module, _) in EXTRAS.items() if importlib.util.find_spec(module)]
    found = [ok("extras", ", ".join(there))] if there else []
    return found + [
        note("extras", f"{name} is not installed ({use})", f"pip install 'skitter[{name}]'")
        for name, (_, use) in EXTRAS.items()
        if name not in there
    ]


def check_disk(folder: Path) -> Finding:
    """Room where the frontier and, by default, the items are kept."""
    place = folder.resolve()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    told = f"{free / 1024**3:.1f} GiB free for {folder}"
    if free < EMPTY_BYTES:
        return problem(
            "disk", told, "free some space, or set embedded.dir and items.sink elsewhere"
        )
    if free < LOW_BYTES:
        return warning("disk", told, "free some space before a long crawl")
    return ok("disk", told)


def check_files(limit: int | None, concurrency: int) -> Finding:
    """Each request under way has a socket; each process has some more files."""
    if limit is None:
        return note("files", "the system does not say how many files may be open")
    told = f"{limit:,} files may be open at once"
    if limit < max(FEW_FILES, 2 * concurrency):
        return warning("files", told, f"ulimit -n {max(4096, 4 * concurrency)}")
    return ok("files", told)


def _soft_limit() -> int | None:
    try:
        import resource  # noqa: PLC0415 - there is none on Windows
    except ImportError:
        return None
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return None if limit < 0 else limit


def _machine(settings: Settings) -> Finding:
    bound = memory_limit()
    memory = f"{bound / 1024**3:.1f} GiB of memory" if bound else "no bound on memory"
    processes = settings.worker.processes or cores()
    return ok("machine", f"{cores()} cores, {memory}; a worker runs {processes} processes")
