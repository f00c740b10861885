"""What a process of the nursery can be; a role that is no coroutine has a loop of its own."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from tests.chaos.client import run_client
from tests.chaos.crawler import run_crawler
from tests.chaos.keeper import run_keeper
from tests.chaos.orders import Order

Role = Callable[[Order], Coroutine[Any, Any, None] | None]

_ROLES: dict[str, Role] = {"client": run_client, "crawler": run_crawler, "keeper": run_keeper}


def find_role(name: str) -> Role:
    """A role by its name; what it needs is imported by then, so that its processes start fast."""
    if name == "addon" and name not in _ROLES:
        from tests.chaos.addon_worker import preload, run_addon  # noqa: PLC0415 - takes a second

        preload()
        _ROLES[name] = run_addon
    if name == "fast" and name not in _ROLES:
        from tests.chaos.fast_worker import preload as preload_fast  # noqa: PLC0415 - the same
        from tests.chaos.fast_worker import run_fast  # noqa: PLC0415

        preload_fast()
        _ROLES[name] = run_fast
    return _ROLES[name]
