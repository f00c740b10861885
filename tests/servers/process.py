"""One Redis or Valkey server as a child process that a test may kill, pause and restart."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Self

import redis

from tests.servers.programs import Kind, die_with_parent, find_program, free_port
from tests.wait import wait_until

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType


class ServerProcess:
    """A server on a unix socket, or on a free port of the loopback (`tcp=True`).

    `options` are the server's own settings by name: {"maxmemory": "10mb", "appendonly": "yes"}.
    What it wrote to its folder outlives `kill` and `restart`, and is removed by `stop`.
    """

    def __init__(
        self, kind: Kind, *, tcp: bool = False, options: Mapping[str, str] | None = None
    ) -> None:
        self.kind = kind
        self._program = find_program(kind)
        self.folder = Path(tempfile.mkdtemp(prefix="skitter-test-"))
        self.port = free_port() if tcp else 0
        self._options = dict(options or {})
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}" if self.port else f"unix://{self._socket}"

    @property
    def pid(self) -> int:
        assert self._process is not None, "the server is not started"
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self, *, wait: bool = True) -> Self:
        self._spawn()
        if wait:
            wait_until(self._ready, timeout_s=20, what=f"{self.kind} answers")
        return self

    def client(self) -> redis.Redis:
        """A plain blocking client, for the test's own questions."""
        if self.port:
            return redis.Redis(port=self.port, socket_timeout=5)
        return redis.Redis(unix_socket_path=str(self._socket), socket_timeout=5)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)
        self._reap()

    def restart(self) -> None:
        """End it, if it runs, as an operator would, and start it on the same files and address."""
        if self.running:
            self._signal(signal.SIGCONT)
            self._signal(signal.SIGTERM)
            self._reap()
        self.start()

    def pause(self) -> None:
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def stop(self) -> None:
        if self.running:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self) -> str:
        path = self.folder / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def _socket(self) -> Path:
        return self.folder / "s.sock"

    def _spawn(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(self._program), *self._arguments()],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=die_with_parent,  # noqa: PLW1509 - one call to the kernel
            )

    def _arguments(self) -> list[str]:
        options = {"port": str(self.port), "bind": "127.0.0.1", "save": "", "dir": "."}
        if not self.port:
            options["unixsocket"] = self._socket.name
        flags: list[str] = []
        for name, value in (options | self._options).items():
            flags += [f"--{name}", value]
        return flags

    def _ready(self) -> bool:
        assert self.running, f"{self.kind} ended at once:\n{self.log()}"
        try:
            with self.client() as client:
                return bool(client.ping())
        except redis.RedisError:
            return False

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None, "the server is not started"
        self._process.send_signal(number)

    def _reap(self) -> None:
        assert self._process is not None, "the server is not started"
        self._process.wait(timeout=20)
