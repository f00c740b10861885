"""What a server says of its CPU and its memory, and where measurements go as they are made."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.servers import ServerProcess
from tests.wait import wait_until

if TYPE_CHECKING:
    from tests.servers.programs import Kind

Figures = dict[str, float]


@dataclass(frozen=True)
class Scale:
    """How much is measured; `quick` shows that all works, its figures are not the reported ones."""

    quick: bool = False
    tcp: bool = False

    def of(self, full: int, quick: int) -> int:
        return quick if self.quick else full


@dataclass
class Log:
    """Prints each measurement as one line of JSON, and keeps it for the table."""

    lines: list[dict[str, Any]] = field(default_factory=list)

    def add(self, name: str, **values: Any) -> None:
        line = {"measurement": name} | {key: _short(value) for key, value in values.items()}
        self.lines.append(line)
        print(json.dumps(line), flush=True)


class Meter:
    """Asks a server for its figures on a connection of its own."""

    def __init__(self, server: ServerProcess) -> None:
        self.client: Any = server.client()
        self.pid = server.pid

    def cpu_s(self) -> float:
        info = self.client.info("cpu")
        return float(info["used_cpu_user"]) + float(info["used_cpu_sys"])

    def memory_bytes(self) -> int:
        """All that is allocated but the connections' buffers, once lazy frees are done."""
        wait_until(self._settled, timeout_s=60, what="lazy frees are done")
        info = self.client.info("memory")
        return int(info["used_memory"]) - int(info["mem_clients_normal"])

    def _settled(self) -> bool:
        info = self.client.info("memory")
        return int(info["lazyfree_pending_objects"]) == 0

    def close(self) -> None:
        self.client.close()


def server(kind: Kind, scale: Scale) -> ServerProcess:
    """A server without persistence: what is measured is the frontier's work, not the disk's."""
    return ServerProcess(kind, tcp=scale.tcp, options={"appendonly": "no"})


def _short(value: Any) -> Any:
    return round(value, 3) if isinstance(value, float) else value
