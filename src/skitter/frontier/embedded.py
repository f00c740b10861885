"""The embedded server: a private Valkey in the project's folder, shared by its processes.

Each user holds a shared flock on `server.lock`. At close it tries to make its lock exclusive; who
succeeds is the last, and stops the server. When all users are killed at once, the guard does it
(embedded_guard.py). `server.alive` is locked as long as a server or its guard lives, so there is
never a second one on the same files, and a dead one is told from a slow one.
flock belongs to the open file, so a child made by fork without exec would share its parent's
lock; it is dropped there, and the child calls `start` for itself.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self
from urllib.parse import quote

from skitter.frontier.embedded_files import ServerFiles

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows, where `start` says that there is no server
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from types import TracebackType

Fsync = Literal["always", "everysec", "no"]

POLL_S = 0.01
PING_TIMEOUT_S = 1.0
STOP_PATIENCE_S = 15.0
START_ATTEMPTS = 3
MIN_FREE_BYTES = 16 << 20
GUARD = Path(__file__).with_name("embedded_guard.py")

_started: weakref.WeakSet[EmbeddedServer] = weakref.WeakSet()
_open_fds: set[int] = set()


class EmbeddedServer:
    """One process's hold on the embedded server of a folder.

    `maxmemory` is in bytes, or as Valkey writes it (`512mb`); None is no limit. It and
    `appendfsync` apply to a running server as well: the word of whoever started last counts.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        appendfsync: Fsync = "always",
        maxmemory: int | str | None = None,
        patience_s: float = 30.0,
    ) -> None:
        self.files = ServerFiles(folder)
        self.url = f"unix://{quote(str(self.files.socket))}"
        self._appendfsync = appendfsync
        self._maxmemory = str(maxmemory or 0)
        self._patience_s = patience_s
        self._users_fd: int | None = None

    def start(self) -> str:
        """Join the folder's server, or start it; answers its URL once it takes commands."""
        self.files.create()
        if self._users_fd is None:
            self._users_fd = self._join()
            _started.add(self)
            atexit.register(self.close)
        try:
            self._bring_up()
        except BaseException:
            self.close()
            raise
        self._command(f"CONFIG SET appendfsync {self._appendfsync} maxmemory {self._maxmemory}")
        return self.url

    def ensure(self) -> str:
        """Start the server anew if it does not answer; what it acknowledged is all there.

        Costs one PING when all is well. Blocks: in an event loop, call it in a thread.
        """
        if self._users_fd is None:
            return self.start()
        self._bring_up()
        return self.url

    def close(self) -> None:
        """Leave; the last one out stops the server and waits for its end."""
        users_fd, self._users_fd = self._users_fd, None
        if users_fd is None:
            return
        _started.discard(self)
        atexit.unregister(self.close)
        try:
            if _lock(users_fd, exclusive=True):
                self._shut_down()
        finally:
            _close(users_fd)

    @property
    def pid(self) -> int | None:
        """The process of the running server; None when there is none."""
        try:
            return int(self.files.pid.read_text(encoding="ascii"))
        except (OSError, ValueError):
            return None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self.start)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.close)

    def _join(self) -> int:
        """Take the users' lock, after whoever is just stopping the server has finished."""
        if fcntl is None:
            raise self.files.failure(f"there is no Valkey for {sys.platform}")
        users_fd = self._open(self.files.users_lock)
        try:
            self._wait_for_lock(users_fd)
        except BaseException as error:
            _close(users_fd)
            if isinstance(error, OSError):
                raise self.files.failure(f"the lock fails ({error.strerror})") from error
            raise
        return users_fd

    def _wait_for_lock(self, users_fd: int) -> None:
        deadline = time.monotonic() + self._patience_s
        while not _lock(users_fd, exclusive=False):
            if time.monotonic() > deadline:
                raise self.files.failure("the old server does not end", self._patience_s)
            time.sleep(POLL_S)

    def _bring_up(self) -> None:
        attempts = 0
        deadline = time.monotonic() + self._patience_s
        while (reply := self._command("PING")) is None or reply.startswith(b"-LOADING"):
            if reply is not None:  # a long load is work, not silence
                deadline = time.monotonic() + self._patience_s
            elif self._launch(attempts):
                attempts += 1
            elif time.monotonic() > deadline:
                raise self.files.failure(f"process {self.pid} does not answer", self._patience_s)
            time.sleep(POLL_S)

    def _launch(self, attempts: int) -> bool:
        """Start a guard with a server, unless there is one; true when it was started here."""
        alive_fd = self._open(self.files.alive_lock)
        try:
            if not _lock(alive_fd, exclusive=True):
                return False
            if attempts >= START_ATTEMPTS:
                raise self.files.failure(f"it ended at once:\n{self.files.log_tail()}")
            self._refuse_full_disk()
            self._start_guard(alive_fd)
            return True
        finally:
            _close(alive_fd)  # the guard's copy keeps the lock

    def _refuse_full_disk(self) -> None:
        """With `always` the server ends itself at a failed write: it would start for nothing."""
        free_bytes = shutil.disk_usage(self.files.folder).free
        if free_bytes < MIN_FREE_BYTES:
            raise self.files.failure(f"the disk is full ({free_bytes >> 10} KiB are free)")

    def _start_guard(self, alive_fd: int) -> None:
        files = self.files
        plan = {
            "argv": files.arguments(appendfsync=self._appendfsync, maxmemory=self._maxmemory),
            "socket": files.socket.name if files.socket_is_near else str(files.socket),
            "users_lock": files.users_lock.name,
            "lock_fd": alive_fd,
            "log": files.log.name,
            "pid": files.pid.name,
        }
        log_fd = self._open(files.log, os.O_APPEND)
        try:
            subprocess.run(  # noqa: S603 - this interpreter with our own file
                [sys.executable, "-I", "-S", str(GUARD), json.dumps(plan)],
                cwd=files.folder,
                stdin=subprocess.DEVNULL,
                stdout=log_fd,
                stderr=log_fd,
                pass_fds=[alive_fd],
                start_new_session=True,
                check=False,  # a guard that fails leaves the lock, and its words in the log
            )
        finally:
            _close(log_fd)

    def _shut_down(self) -> None:
        """A server that does not obey, or cannot be found, is left to its guard."""
        self._command("SHUTDOWN")
        deadline = time.monotonic() + STOP_PATIENCE_S
        while self.files.alive_lock.exists() and not self._is_gone():
            if time.monotonic() > deadline:
                return
            time.sleep(POLL_S)

    def _is_gone(self) -> bool:
        alive_fd = self._open(self.files.alive_lock)
        try:
            return _lock(alive_fd, exclusive=True)
        finally:
            _close(alive_fd)

    def _command(self, line: str) -> bytes | None:
        """Send one inline command; the start of the reply, or None when nobody answers."""
        with socket.socket(socket.AF_UNIX) as connection, contextlib.suppress(OSError):
            connection.settimeout(PING_TIMEOUT_S)
            connection.connect(str(self.files.socket))
            connection.sendall(line.encode() + b"\r\n")
            return connection.recv(512) or None
        return None

    def _open(self, path: Path, flags: int = 0) -> int:
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | flags, 0o600)
        except OSError as error:
            raise self.files.failure(f"cannot write {path.name} ({error.strerror})") from error
        _open_fds.add(fd)
        return fd


def _lock(fd: int, *, exclusive: bool) -> bool:
    """Take or change a lock without waiting. A change that fails has lost the old lock, too."""
    kind = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _close(fd: int) -> None:
    _open_fds.discard(fd)
    os.close(fd)


def _forget_in_child() -> None:
    """Closing a copy releases nothing, but a copy left open would keep the lock for its life."""
    for server in list(_started):
        server._users_fd = None  # noqa: SLF001 - same module
    _started.clear()
    while _open_fds:
        os.close(_open_fds.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
