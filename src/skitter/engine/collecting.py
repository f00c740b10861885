"""Python's collector of garbage, kept away from where there is none to find.

What a program loads at its start stays to its end, and looking through it again and again takes a
seventh of the time that loading takes. What a page leaves behind goes by itself, for few objects
are in cycles.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

COLLECT_AFTER = (100_000, 20, 50)
COLLECT_AFTER_BYTES = 64 * 1024**2


@contextmanager
def resting() -> Iterator[None]:
    """Collect nothing meanwhile, nor anything of it later: modules are being loaded."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()


def spare_the_collector() -> None:
    """From now on look seldom."""
    gc.set_threshold(*COLLECT_AFTER)


class Weighed:
    """Bytes of pages that are done with: a few objects of a spider's own may hold many of them."""

    def __init__(self) -> None:
        self._bytes = 0

    def add(self, number: int) -> None:
        """So many more. From time to time it is looked whether they are gone."""
        self._bytes += number
        if self._bytes > COLLECT_AFTER_BYTES:
            self._bytes = 0
            if gc.isenabled():
                gc.collect(1)
