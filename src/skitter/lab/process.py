"""The lab in a process of its own, so that it shares neither loop nor core with what it judges.

The child takes its orders as one line of JSON on stdin, answers with one line on stdout, and
ends when stdin does: a parent that is killed leaves no lab behind.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Self
from urllib.request import ProxyHandler, Request, build_opener

from skitter.lab.demo_spec import check_version
from skitter.lab.referee import Judging
from skitter.lab.refusal import LabSpecError
from skitter.lab.run import LabAddress
from skitter.lab.spec import WebSpec, spec_values
from skitter.lab.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

# A proxy set in the environment is for the internet, never for the lab.
_OPENER = build_opener(ProxyHandler({}))


class LabProcess(LabAddress):
    """`with LabProcess(spec) as lab:` serves the web from another process."""

    def __init__(
        self,
        spec: WebSpec | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        seeds: Sequence[str] = (),
        prerender: int = 0,
        judging: Judging | None = None,
    ) -> None:
        super().__init__(spec or WebSpec(), host=host, port=port)
        self._orders = {
            "spec": spec_values(self.web.spec),
            "judging": asdict(judging or Judging()),
            "serving": {"host": host, "port": port, "seeds": list(seeds), "prerender": prerender},
        }
        self._child: subprocess.Popen[str] | None = None

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._running().pid

    def start(self) -> None:
        """Start the child and wait until it listens."""
        self._child = subprocess.Popen(
            [sys.executable, "-m", "skitter.lab"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        stdin, stdout = _pipes(self._child)
        stdin.write(json.dumps(self._orders) + "\n")
        stdin.flush()
        line = stdout.readline()
        reply: dict[str, Any] = (
            json.loads(line) if line else {"error": "the lab's process ended at once"}
        )
        if "error" in reply:
            self.stop()
            raise LabSpecError(problem=reply["error"])
        self.port = reply["port"]

    def stop(self) -> None:
        """Close the child's stdin and wait for its end; kill it if it does not come."""
        child, self._child = self._child, None
        if child is None:
            return
        try:
            child.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def verdict(self, *, coverage: bool = True) -> Verdict:
        """The referee's verdict so far."""
        return Verdict.from_json(json.loads(self._ask(f"verdict?coverage={int(coverage)}")))

    def expected(self) -> set[str]:
        """The URLs that a full crawl from the seeds must fetch."""
        return set(self._ask("graph").split())

    def requests(self) -> list[dict[str, Any]]:
        """The log of requests, if `judging.log` keeps one."""
        return [json.loads(line) for line in self._ask("requests").splitlines()]

    def reset(self) -> None:
        """Forget all requests, and let passing faults begin again."""
        self._ask("reset", method="POST")

    @property
    def version(self) -> int:
        """Which version of the demo sites is served."""
        return int(json.loads(self._ask("version"))["version"])

    def set_version(self, version: int) -> None:
        """Serve another version of the demo sites from now on."""
        self._ask(f"version?to={check_version(version)}", method="POST")

    def _ask(self, question: str, *, method: str = "GET") -> str:
        self._running()
        request = Request(f"{self.proxy}/__referee__/{question}", method=method)  # noqa: S310 - http
        with _OPENER.open(request, timeout=60) as reply:
            return str(reply.read().decode())

    def _running(self) -> subprocess.Popen[str]:
        if self._child is None:
            raise LabSpecError(problem="it is not running; use it as a context manager")
        return self._child


def _pipes(child: subprocess.Popen[str]) -> tuple[Any, Any]:
    return child.stdin, child.stdout
