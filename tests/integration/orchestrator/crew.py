"""Orchestrators as an operator starts them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from skitter.orchestrator.status import read_status
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from skitter.services import Services

SKITTER = Path(sys.executable).parent / "skitter"
ROOT = Path(__file__).parents[3]


class Orchestrators:
    """`skitter orchestrator` processes on the services of a test; killed at its end."""

    def __init__(self, services: Services, folder: Path) -> None:
        self._services = services
        self._folder = folder
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, *args: str, **settings: str) -> str:
        """Start one; its name. Settings are given by name, with two underscores for the dot."""
        name = f"o{len(self.processes)}"
        given = self._settings | {"orchestrator.id": name}
        given |= {key.replace("__", "."): value for key, value in settings.items()}
        flags = [word for pair in given.items() for word in ("--set", "=".join(pair))]
        with (self._folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [str(SKITTER), "orchestrator", *flags, *args],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={k: v for k, v in os.environ.items() if not k.startswith("SKITTER_")},
            )
        return name

    def kill(self, name: str) -> None:
        self.processes[name].send_signal(signal.SIGKILL)
        self.processes[name].wait(30)

    def stop(self, name: str) -> int:
        self.processes[name].send_signal(signal.SIGTERM)
        return self.processes[name].wait(30)

    def close(self) -> None:
        for name, process in self.processes.items():
            if process.poll() is None:
                process.kill()
                process.wait(30)
            print(f"--- {name}\n{self.log(name)}")

    def log(self, name: str) -> str:
        return (self._folder / f"{name}.log").read_text(errors="replace")

    async def leader(self, *, timeout_s: float = 30) -> str:
        """Who of those that live says that it leads, once one does."""

        async def found() -> str | None:
            for said in await self._services.store.read(read_status):
                process = self.processes.get(said["name"])
                if said["leading"] and said["alive"] and process and process.poll() is None:
                    return str(said["name"])
            return None

        return await wait_until_async(found, timeout_s=timeout_s, what="one leads")

    async def alive(self, number: int, *, timeout_s: float = 60) -> None:
        async def there() -> bool:
            said = [one["name"] for one in await self._services.store.read(read_status)]
            return sum(p.poll() is None and n in said for n, p in self.processes.items()) >= number

        await wait_until_async(there, timeout_s=timeout_s, what=f"{number} orchestrators")

    @property
    def _settings(self) -> dict[str, str]:
        settings = self._services.settings
        return {
            "redis.url": str(settings.redis.url),
            "redis.namespace": settings.redis.namespace,
            "store.url": settings.store.url,
            "items.sink": settings.items.sink[0],
            "politeness.delay_s": "0",
            "orchestrator.tick_s": "0.2",
            "orchestrator.schedules": str(settings.orchestrator.schedules),
            "alerts.every_s": "0.3",
            "log.format": "text",
        }
