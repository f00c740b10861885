"""Packages that come with an extra: what is missing is told with the command that brings it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from skitter.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def extra(name: str, *, what: str) -> Iterator[None]:
    """Import the packages of an extra in here."""
    try:
        yield
    except ImportError as error:
        package = error.name or str(error)
        raise MissingExtra(feature=what, package=package, extra=name) from error
