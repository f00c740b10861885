"""What a process of the nursery can be."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tests.chaos.client import run_client
from tests.chaos.crawler import run_crawler
from tests.chaos.keeper import run_keeper
from tests.chaos.orders import Order

ROLES: dict[str, Callable[[Order], Awaitable[None]]] = {
    "client": run_client,
    "crawler": run_crawler,
    "keeper": run_keeper,
}
