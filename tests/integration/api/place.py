"""A served API, and clients of it with keys of every role."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from skitter.access import Role
from skitter.api.serving import serve
from skitter.client import Client
from skitter.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from skitter.services import Services

SEED = "https://books.example/"


def settings_of(server_url: str, namespace: str, folder: Path, **api: Any) -> Settings:
    return Settings.model_validate(
        {
            "redis": {"url": server_url, "namespace": namespace},
            "store": {"url": f"sqlite:{folder / 'skitter.db'}"},
            "items": {"sink": [f"sqlite:{folder / 'items.db'}"]},
            "api": {"port": 0, "anonymous_per_s": 1_000, **api},
        }
    )


class Place:
    """The address, the services behind it, and clients."""

    def __init__(self, url: str, services: Services, stack: AsyncExitStack) -> None:
        self.url = url
        self.services = services
        self._stack = stack

    async def key(self, role: Role, project: str | None = None) -> str:
        _, text = await self.services.keys.create(name=f"{role} key", role=role, project=project)
        return text

    async def client(self, role: Role = Role.ADMIN, project: str | None = None) -> Client:
        return await self.client_with(await self.key(role, project))

    async def client_with(self, key: str) -> Client:
        return await self._stack.enter_async_context(Client(self.url, key, tries=1))


@asynccontextmanager
async def serving(services: Services) -> AsyncIterator[Place]:
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(serve(services, on_ready=address.set_result))
    try:
        waited: set[asyncio.Future[Any]] = {address, task}
        done, _ = await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        if task in done:
            await task
        async with AsyncExitStack() as stack:
            yield Place(await address, services, stack)
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
