"""Real servers as fixtures, a namespace for each test, and a look at what it left behind.

Servers start at first use and live as long as the session. `server_url` runs a test on each
kind in turn. What a test writes must lie in its `namespace`; a key anywhere else is a failure.
"""

from __future__ import annotations

import logging
import uuid
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import pytest
import structlog

from tests.servers import ClusterProcess, ServerProcess, delete_keys, find_program, list_keys
from tests.servers.embedded import User, processes_in
from tests.wait import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers.embedded import Join


@pytest.fixture(autouse=True)
def logging_put_back() -> Iterator[None]:
    """Commands that run in the tests' process set the logs up, for themselves alone."""
    root = logging.root
    level, handlers = root.level, list(root.handlers)
    yield
    for handler in list(root.handlers):
        if handler not in handlers:
            root.removeHandler(handler)
            handler.close()
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.fixture(scope="session")
def valkey_server() -> Iterator[ServerProcess]:
    """The Valkey of the embedded server's wheel, on a unix socket."""
    with ServerProcess("valkey") as server:
        yield server


@pytest.fixture(scope="session")
def redis_server() -> Iterator[ServerProcess]:
    """The Redis on the PATH, on a port of the loopback."""
    with ServerProcess("redis", tcp=True) as server:
        yield server


@pytest.fixture(scope="session")
def redis_cluster() -> Iterator[ClusterProcess]:
    """Three primaries without replicas."""
    with ClusterProcess() as cluster:
        yield cluster


@pytest.fixture
def replicated_cluster() -> Iterator[ClusterProcess]:
    """Three primaries with a replica each, new for each test, for it is there to be broken."""
    with ClusterProcess(replicas=True) as cluster:
        yield cluster


@pytest.fixture(params=["valkey", "redis", "cluster"])
def server_url(request: pytest.FixtureRequest) -> str:
    """The address of a server, of each kind in turn."""
    fixtures = {"valkey": "valkey_server", "redis": "redis_server", "cluster": "redis_cluster"}
    url: str = request.getfixturevalue(fixtures[request.param]).url
    return url


@pytest.fixture
def namespace(request: pytest.FixtureRequest) -> Iterator[str]:
    """A prefix for all keys of this test; its keys are deleted, others are a failure."""
    name = f"t{uuid.uuid4().hex[:12]}"
    url = request.getfixturevalue("server_url") if "server_url" in request.fixturenames else None
    if url is None:
        yield name
        return
    delete_keys(url, list_keys(url))  # of tests that took the server without asking for its keys
    yield name
    keys = list_keys(url)
    delete_keys(url, keys)
    strays = [key for key in keys if name.encode() not in key]
    assert not strays, f"keys outside the namespace {name}: {strays[:20]}"


class Leaks:
    """What a test may leave in its namespace: nothing, or keys like the patterns it names."""

    def __init__(self) -> None:
        self.allowed: list[str] = []

    def allow(self, *patterns: str) -> None:
        """Patterns are those of a shell (`*:registry`), on the key without its namespace."""
        self.allowed += patterns

    def found(self, url: str, namespace: str) -> list[str]:
        mine = [key.decode(errors="replace") for key in list_keys(url)]
        mine = [key for key in mine if namespace in key]
        return [key for key in mine if not self._is_allowed(key.replace(namespace, "", 1))]

    def _is_allowed(self, key: str) -> bool:
        return any(fnmatchcase(key, pattern) for pattern in self.allowed)


@pytest.fixture
def no_leaked_keys(server_url: str, namespace: str) -> Iterator[Leaks]:
    """Fails the test if it leaves a key behind after its own clean-up."""
    leaks = Leaks()
    yield leaks
    left = leaks.found(server_url, namespace)
    assert not left, f"{len(left)} keys leaked: {left[:20]}"


@pytest.fixture
def server_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder for a server; no process may be at work in it when the test is over."""
    find_program("valkey")
    path = tmp_path / ".skitter"
    yield path
    wait_until(lambda: not processes_in(path), what=f"no orphan: {processes_in(path)}")


@pytest.fixture
def join(server_folder: Path) -> Iterator[Join]:
    """Starts users of the folder's server; those still there after the test are killed."""
    users: list[User] = []

    def start(task: str = "hold") -> User:
        users.append(User(server_folder, task))
        return users[-1]

    yield start
    for user in users:
        user.kill()
