"""A process's start, made short: what is loaded, and Python's collector of garbage.

The collector is kept away from where there is none to find. What a program loads at its start
stays to its end, and looking through it again and again takes a seventh of the time that loading
takes. What a page leaves behind goes by itself, for few objects are in cycles.
"""

from __future__ import annotations

import gc
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

COLLECT_AFTER = (20_000, 20, 50)


@contextmanager
def resting() -> Iterator[None]:
    """Collect nothing meanwhile: modules are being loaded."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def without(module: str) -> Iterator[None]:
    """Load something that would load a module for ways of its own that nobody here goes.

    For as long, the module cannot be had; nothing changes if it is loaded already.
    """
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]  # this is how Python is told
    try:
        yield
    finally:
        del sys.modules[module]


def spare_the_collector() -> None:
    """What is loaded by now stays; from now on look seldom."""
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
