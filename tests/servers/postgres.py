"""A PostgreSQL of the system as a child process that a test may kill and restart.

It refuses to run as root, so that root starts it as the user `postgres`, or else as `nobody`.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self

from tests.servers.programs import die_with_parent, find_on_path, free_port, missing
from tests.wait import wait_until

if TYPE_CHECKING:
    from types import TracebackType

# A cluster for tests keeps its promises to the disk: what is tested is that nothing is lost.
_OPTIONS = ("max_connections=50", "shared_buffers=32MB", "autovacuum=off", "jit=off")


class PostgresProcess:
    """A private cluster on a free port of the loopback. Its files outlive `kill` and `start`."""

    def __init__(self) -> None:
        self._programs = _find_programs()
        self._user = _unprivileged()
        self.folder = Path(tempfile.mkdtemp(prefix="skitter-test-"))
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._own(self.folder)
        self._init()

    @property
    def url(self) -> str:
        return f"postgresql://skitter@127.0.0.1:{self.port}/postgres"

    @property
    def pid(self) -> int:
        assert self._process is not None, "the server is not started"
        return self._process.pid

    def start(self) -> Self:
        options = [part for option in _OPTIONS for part in ("-c", option)]
        address = ["-p", str(self.port), "-h", "127.0.0.1", "-k", str(self.folder)]
        with (self.folder / "log").open("ab") as log:
            self._process = self._spawn("postgres", ["-D", "data", *address, *options], log)
        wait_until(self._ready, timeout_s=30, what="PostgreSQL answers")
        return self

    def kill(self) -> None:
        """As a crash does: its children notice, and end by themselves."""
        assert self._process is not None, "the server is not started"
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(timeout=20)

    def pause(self) -> None:
        """Connections are taken by the kernel, and nobody answers."""
        assert self._process is not None, "the server is not started"
        self._process.send_signal(signal.SIGSTOP)

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(timeout=20)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _init(self) -> None:
        flags = ["-D", "data", "-U", "skitter", "-A", "trust", "-E", "UTF8", "--no-sync"]
        with (self.folder / "log").open("ab") as log:
            started = self._spawn("initdb", [*flags, "--locale=C.UTF-8"], log)
        assert started.wait(timeout=60) == 0, (self.folder / "log").read_text()

    def _spawn(self, program: str, flags: list[str], log: IO[bytes]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [str(self._programs / program), *flags],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            preexec_fn=partial(_become, self._user),  # noqa: PLW1509 - four calls to the kernel
        )

    def _own(self, folder: Path) -> None:
        if self._user is not None:
            os.chown(folder, self._user.pw_uid, self._user.pw_gid)

    def _ready(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self.folder / "log").read_text(errors="replace")
        flags = ["-q", "-h", "127.0.0.1", "-p", str(self.port), "-d", "postgres"]
        return subprocess.run([self._programs / "pg_isready", *flags], check=False).returncode == 0


def _find_programs() -> Path:
    """The folder of the newest version; Debian keeps it off the PATH."""
    versions = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    found = sorted(versions, key=lambda path: float(path.parts[-3]))
    if found:
        return found[-1].parent
    if shutil.which("initdb"):
        return find_on_path("initdb").resolve().parent
    return missing("PostgreSQL (initdb) is not installed")


def _unprivileged() -> pwd.struct_passwd | None:
    """Whom the server runs as where we are root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return missing("PostgreSQL does not run as root, and there is no other user")


def _become(user: pwd.struct_passwd | None) -> None:
    if user is not None:
        os.setgroups([])
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)
    die_with_parent()
