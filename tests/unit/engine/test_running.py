"""Without Twisted's reactor, nothing waits for it."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest

from skitter.engine.running import without_reactor

pytestmark = pytest.mark.unit

REACTOR = "twisted.internet.reactor"


def test_the_reactor_cannot_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, REACTOR, raising=False)
    before = list(sys.meta_path)
    with without_reactor(), pytest.raises(ImportError, match="without a Twisted reactor"):
        import_module(REACTOR)
    assert sys.meta_path == before
