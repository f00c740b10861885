"""Waiting for a condition instead of sleeping for a guess."""

from __future__ import annotations

import asyncio
import inspect
import time
from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")

PAUSE_S = 0.01


def wait_until(condition: Callable[[], T | None], *, timeout_s: float = 30.0, what: str = "") -> T:
    """The first true value of the condition; a test failure when it does not come in time."""
    deadline = time.monotonic() + timeout_s
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise _too_late(condition, timeout_s, what=what)
        time.sleep(PAUSE_S)
    return value


@overload
async def wait_until_async(
    condition: Callable[[], Awaitable[T | None]], *, timeout_s: float = 30.0, what: str = ""
) -> T: ...


@overload
async def wait_until_async(
    condition: Callable[[], T | None], *, timeout_s: float = 30.0, what: str = ""
) -> T: ...


async def wait_until_async(
    condition: Callable[[], Any], *, timeout_s: float = 30.0, what: str = ""
) -> Any:
    """The same in an event loop; the condition may be a plain or an async function."""
    deadline = time.monotonic() + timeout_s
    while True:
        answer = condition()
        if inspect.isawaitable(answer):
            answer = await answer
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise _too_late(condition, timeout_s, what=what)
        await asyncio.sleep(PAUSE_S)


def _too_late(condition: object, timeout_s: float, *, what: str) -> AssertionError:
    name = what or getattr(condition, "__qualname__", repr(condition))
    return AssertionError(f"not within {timeout_s:g} s: {name}")
