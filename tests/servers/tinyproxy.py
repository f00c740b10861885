"""Real proxies as child processes, each with an exit address of its own on the loopback.

`TinyProxy` speaks HTTP and may hand everything to one upstream proxy, which a lab is, so that names
need no DNS. `MicroSocks` speaks SOCKS5 and connects to what it is asked for.
"""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tests.servers.programs import die_with_parent, find_on_path, free_port
from tests.wait import wait_until

if TYPE_CHECKING:
    from types import TracebackType

USER, PASSWORD = "bob", "s3cret"


class ProxyProcess:
    """A proxy that a test may stop, pause and start again on the same port."""

    program: str
    scheme: str

    def __init__(self, exit_address: str, *, auth: bool = False) -> None:
        self.exit_address = exit_address
        self.auth = auth
        self.port = free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="skitter-test-"))
        self._path = find_on_path(self.program)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        credentials = f"{USER}:{PASSWORD}@" if self.auth else ""
        return f"{self.scheme}://{credentials}127.0.0.1:{self.port}"

    def start(self) -> Self:
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(self._path), *self.arguments()],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=die_with_parent,  # noqa: PLW1509 - one call to the kernel
            )
        wait_until(self._listens, what=f"{self.program} listens")
        return self

    def arguments(self) -> list[str]:
        raise NotImplementedError

    def stop(self) -> None:
        """From now on it refuses connections."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(timeout=20)
            self._process = None

    def pause(self) -> None:
        """Connections are taken by the kernel, and nobody answers."""
        assert self._process is not None, "the proxy is not started"
        self._process.send_signal(signal.SIGSTOP)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _listens(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self.folder / "log").read_text(errors="replace")
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


class TinyProxy(ProxyProcess):
    """An HTTP proxy, before another one (`127.0.0.1:port`) if told."""

    program = "tinyproxy"
    scheme = "http"

    def __init__(self, exit_address: str, *, upstream: str = "", auth: bool = False) -> None:
        super().__init__(exit_address, auth=auth)
        lines = [
            f"Port {self.port}",
            "Listen 127.0.0.1",
            f"Bind {exit_address}",
            *([f"Upstream http {upstream}"] if upstream else []),
            "Timeout 60",
            "MaxClients 100",
            "LogLevel Critical",
            "DisableViaHeader Yes",
            *([f"BasicAuth {USER} {PASSWORD}"] if auth else []),
        ]
        (self.folder / "conf").write_text("\n".join(lines) + "\n")

    def arguments(self) -> list[str]:
        return ["-d", "-c", "conf"]


class MicroSocks(ProxyProcess):
    """A SOCKS5 proxy."""

    program = "microsocks"
    scheme = "socks5"

    def arguments(self) -> list[str]:
        auth = ["-u", USER, "-P", PASSWORD] if self.auth else []
        return ["-i", "127.0.0.1", "-p", str(self.port), "-b", self.exit_address, *auth]
