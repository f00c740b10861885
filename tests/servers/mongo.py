"""A server that speaks MongoDB's protocol, as a child process that a test may kill and restart.

MongoDB itself is in no registry of packages. `nx-27017` is a stand-in on SQLite that knows bulks of
upserts and indexes; what it does not know (write concerns, transactions) is not tested here.
"""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tests.servers.programs import die_with_parent, free_port, missing
from tests.wait import wait_until

if TYPE_CHECKING:
    from types import TracebackType


class MongoProcess:
    """A server on a free port of the loopback. Its files outlive `kill` and `start`."""

    def __init__(self) -> None:
        if find_spec("nx_27017") is None:
            missing("nx-27017, a server compatible with MongoDB, is not installed")
        self.folder = Path(tempfile.mkdtemp(prefix="skitter-test-"))
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"mongodb://127.0.0.1:{self.port}/skitter"

    @property
    def pid(self) -> int:
        assert self._process is not None, "the server is not started"
        return self._process.pid

    def start(self) -> Self:
        flags = ["--host", "127.0.0.1", "-p", str(self.port), "--data-dir", "data"]
        files = ["--log-file", "server.log", "--pid-file", "server.pid"]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [Path(sys.executable).with_name("nx-27017"), *flags, *files],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=die_with_parent,  # noqa: PLW1509 - one call to the kernel
            )
        wait_until(self._listens, timeout_s=30, what="the MongoDB-compatible server listens")
        return self

    def kill(self) -> None:
        assert self._process is not None, "the server is not started"
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(timeout=20)

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.kill()
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

    def _listens(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self.folder / "log").read_text(errors="replace")
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0
