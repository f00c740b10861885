"""What schemathesis needs to know of us, and what each kind of key must never see.

SKITTER_FUZZ_ONLY: the statuses that may be answered outside of what is open to all.
SKITTER_FUZZ_HIDDEN: a word that is in everything of a project that the key is not for.
"""

from __future__ import annotations

import os
from typing import Any

import schemathesis

OPEN = {"/", "/health/live", "/health/ready"}


@schemathesis.serializer("application/x-ndjson")
def lines(_context: Any, value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


@schemathesis.check
def answers_nothing_else(_context: Any, response: Any, case: Any) -> None:
    allowed = os.environ.get("SKITTER_FUZZ_ONLY")
    if allowed and case.path not in OPEN:
        assert str(response.status_code) in allowed.split(","), response.status_code


@schemathesis.check
def shows_nothing_hidden(_context: Any, response: Any, _case: Any) -> None:
    hidden = os.environ.get("SKITTER_FUZZ_HIDDEN")
    asked = str(response.request.url) + str(response.request.body)
    if hidden and hidden not in asked:
        assert hidden not in response.content.decode("utf-8", "replace")
