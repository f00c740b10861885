"""A pipeline of the kind that needs Twisted's reactor."""

from __future__ import annotations

from typing import Any

from twisted.internet.threads import deferToThread


class InThread:
    """Stores each item in a thread of Twisted's pool."""

    def process_item(self, item: Any) -> Any:
        return deferToThread(dict, item)
