"""Real servers for tests, each in a folder of its own, gone when the test session is.

Start them in the main thread: the kernel ties a child's death to the thread that made it.
"""

from __future__ import annotations

from tests.servers.cluster import ClusterProcess
from tests.servers.keyspace import delete_keys, list_keys
from tests.servers.process import ServerProcess
from tests.servers.programs import find_program
from tests.servers.proxy import Cut, CutProxy

__all__ = [
    "ClusterProcess",
    "Cut",
    "CutProxy",
    "ServerProcess",
    "delete_keys",
    "find_program",
    "list_keys",
]
