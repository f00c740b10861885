"""Makes real processes cheaply: one process that has imported everything forks those it is asked
for. It has neither threads nor a loop, so its forks are clean.

Orders come as lines of JSON, answers are process ids. Children die with it, and it with its parent;
a process is signalled through its pidfd, so that a number which was used again is never hit.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Self

from skitter.frontier.scripts import script
from tests.chaos.orders import Order
from tests.servers.programs import die_with_parent

if TYPE_CHECKING:
    from types import TracebackType


@dataclass
class Child:
    """A process of the nursery; pidfd is negative once it is known to be gone."""

    pidfd: int

    def signal(self, number: int) -> None:
        if self.pidfd < 0:
            return
        try:
            signal.pidfd_send_signal(self.pidfd, number)
        except ProcessLookupError:
            self._close()

    @property
    def gone(self) -> bool:
        self.signal(0)
        return self.pidfd < 0

    def kill(self) -> None:
        """Kill it and think of it no more."""
        self.signal(signal.SIGKILL)
        self._close()

    def _close(self) -> None:
        if self.pidfd >= 0:
            os.close(self.pidfd)
            self.pidfd = -1

    async def wait(self, timeout_s: float) -> bool:
        """Whether it ended in time."""
        deadline = asyncio.get_running_loop().time() + timeout_s
        while not self.gone:
            if asyncio.get_running_loop().time() > deadline:
                return False
            await asyncio.sleep(0.01)
        return True


class Nursery:
    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.nursery"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - one call to the kernel
        )

    def start(self, role: str, order: Order) -> Child:
        """A new process that runs a role; it is there when this returns."""
        stdin, stdout = _pipes(self._process)
        stdin.write(json.dumps({"role": role, "order": asdict(order)}) + "\n")
        stdin.flush()
        pid = int(stdout.readline())
        try:
            child = Child(os.pidfd_open(pid))
        except ProcessLookupError:
            child = Child(-1)
        stdin.write("\n")  # only now may it run, and end
        stdin.flush()
        return child

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _pipes(process: subprocess.Popen[str]) -> tuple[Any, Any]:
    return process.stdin, process.stdout


def main() -> None:
    from tests.chaos.roles import find_role  # noqa: PLC0415 - only the nursery itself needs them

    for path in (files("skitter.frontier") / "lua").iterdir():
        if path.name.endswith(".lua"):
            script(path.name.removesuffix(".lua"))

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while line := sys.stdin.readline():
        wanted = json.loads(line)
        role = find_role(wanted["role"])
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(writing)
            _be(role, Order(**wanted["order"]), reading)
        os.close(reading)
        print(pid, flush=True)
        sys.stdin.readline()
        with contextlib.suppress(BrokenPipeError):  # gone before it began; its owner will see
            os.write(writing, b"\n")
        os.close(writing)


def _be(role: Any, order: Order, permission: int) -> None:
    """Run a role in this new process, and end with it."""
    code = 1
    try:
        die_with_parent()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.read(permission, 1)
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1):
            os.dup2(quiet, stream)
        work = role(order)
        if work is not None:
            asyncio.run(work)
        code = 0
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
