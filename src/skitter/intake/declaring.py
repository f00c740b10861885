"""What a spider asks of a run as a whole, in the words in which it goes with its jobs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from skitter.errors import SkitterError

if TYPE_CHECKING:
    from collections.abc import Mapping

_SAID = ("gates", "usual_gates", "gates_for")
_SETTING = "SKITTER_GATES"  # as in validate.gates.declared, which is not loaded to look for it


def gates_text(spider: type[Any], args: Mapping[str, Any]) -> str:
    """The gates that a class declares for jobs with these arguments, as JSON; '' if none."""
    settings = getattr(spider, "custom_settings", None) or {}
    if _SETTING not in settings and not any(getattr(spider, name, None) for name in _SAID):
        return ""
    from skitter.validate.gates import Declared  # noqa: PLC0415 - most spiders declare none

    try:
        found = Declared.of(spider, args)
    except SkitterError as error:  # a run by gates that nobody can read is not passed
        found = Declared(problem=str(error))
    said = found.to_json()
    return json.dumps(said, default=str) if said else ""
