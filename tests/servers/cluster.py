"""A Redis Cluster of real processes: three primaries, and if asked for, a replica for each."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Self

import redis
from redis.crc import key_slot

from tests.servers.process import ServerProcess
from tests.servers.programs import Kind, free_port
from tests.wait import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

PRIMARIES = 3
SLOTS = 16384


class ClusterProcess:
    """The nodes come primaries first; after a failover ask `primary_of` who is what."""

    def __init__(self, *, replicas: bool = False, kind: Kind = "redis") -> None:
        count = PRIMARIES * (2 if replicas else 1)
        self.nodes = [_node(kind) for _ in range(count)]

    @property
    def url(self) -> str:
        return f"redis+cluster://127.0.0.1:{self.nodes[0].port}"

    def start(self) -> Self:
        for node in self.nodes:
            node.start(wait=False)
        for node in self.nodes:
            wait_until(node._ready, timeout_s=20, what="a cluster node answers")
        self._assign_slots()
        self._introduce()
        self._attach_replicas()
        wait_until(self.healthy, timeout_s=30, what="the cluster is up")
        return self

    def healthy(self) -> bool:
        """Whether every running node sees all slots served, and every replica is in step."""
        return all(_is_healthy(node) for node in self.nodes if node.running)

    def primary_of(self, key: bytes | str) -> ServerProcess:
        """The node that owns a key now, by the word of any node that answers."""
        slot = key_slot(key.encode() if isinstance(key, str) else key)
        port = next(owner for first, last, owner in self._owners() if first <= slot <= last)
        return next(node for node in self.nodes if node.port == port)

    def primaries(self) -> list[ServerProcess]:
        ports = {port for _, _, port in self._owners()}
        return [node for node in self.nodes if node.port in ports]

    def stop(self) -> None:
        for node in self.nodes:
            node.stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _owners(self) -> Iterator[tuple[int, int, int]]:
        for node in self.nodes:
            if not node.running:
                continue
            try:
                with node.client() as client:
                    reply = client.execute_command("CLUSTER SLOTS")
            except redis.RedisError:
                continue
            return ((first, last, owner[1]) for first, last, owner, *_ in reply)
        raise AssertionError("no node of the cluster answers")

    def _assign_slots(self) -> None:
        for index, node in enumerate(self.nodes[:PRIMARIES]):
            first = SLOTS * index // PRIMARIES
            last = SLOTS * (index + 1) // PRIMARIES - 1
            with node.client() as client:
                client.execute_command("CLUSTER ADDSLOTSRANGE", first, last)
                client.execute_command("CLUSTER SET-CONFIG-EPOCH", index + 1)

    def _introduce(self) -> None:
        first = self.nodes[0]
        bus_port = first._options["cluster-port"]
        for node in self.nodes[1:]:
            with node.client() as client:
                client.execute_command("CLUSTER MEET", "127.0.0.1", first.port, bus_port)
        for node in self.nodes:
            wait_until(partial(_knows, node, len(self.nodes)), timeout_s=20)

    def _attach_replicas(self) -> None:
        for primary, replica in zip(self.nodes, self.nodes[PRIMARIES:], strict=False):
            with primary.client() as client:
                identity = client.execute_command("CLUSTER MYID")
            with replica.client() as client:
                client.execute_command("CLUSTER REPLICATE", identity)


def _node(kind: Kind) -> ServerProcess:
    options = {
        "cluster-enabled": "yes",
        "cluster-port": str(free_port()),
        "cluster-node-timeout": "2000",
        "repl-diskless-sync-delay": "0",
    }
    return ServerProcess(kind, tcp=True, options=options)


def _knows(node: ServerProcess, count: int) -> bool:
    with node.client() as client:
        return int(_cluster_info(client)["cluster_known_nodes"]) == count


def _is_healthy(node: ServerProcess) -> bool:
    with node.client() as client:
        link = client.info("replication").get("master_link_status", "up")
        return _cluster_info(client)["cluster_state"] == "ok" and link == "up"


def _cluster_info(client: Any) -> dict[str, str]:
    reply: dict[str, str] = client.execute_command("CLUSTER INFO")
    return reply
