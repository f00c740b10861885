"""Where the servers' programs are, and what a test does without one."""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import signal
import socket
import sys
from pathlib import Path
from typing import Literal, NoReturn

import pytest

from skitter.frontier.embedded_files import find_valkey

Kind = Literal["valkey", "redis"]

PR_SET_PDEATHSIG = 1

_given: set[int] = set()


def find_program(kind: Kind) -> Path:
    """The server's program; without it the test is skipped, or fails where servers are a must."""
    if kind == "redis":
        return find_on_path("redis-server")
    try:
        return find_valkey()
    except LookupError as error:
        return missing(str(error))


def find_on_path(name: str) -> Path:
    """The same for a program of the system."""
    found = shutil.which(name)
    return Path(found) if found else missing(f"{name} is not on the PATH")


def missing(reason: str) -> NoReturn:
    """Skip the test, or fail it where servers are a must."""
    if os.environ.get("SKITTER_REQUIRE_SERVERS") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def die_with_parent() -> None:
    """Run in a new process before its program: even a killed test session leaves nothing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def free_port() -> int:
    """Below the range that the system hands to outgoing connections, and never the same twice."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe:
            if port not in _given and probe.connect_ex(("127.0.0.1", port)) != 0:
                _given.add(port)
                return port
