"""How a description of a lab is refused: one error that names every problem."""

from __future__ import annotations

from skitter.errors import SkitterError


class LabSpecError(SkitterError, ValueError):
    """The lab cannot be made as described: {problem}"""


def refuse(problems: dict[str, bool]) -> None:
    """Raise for the problems that are there."""
    found = [problem for problem, there in problems.items() if there]
    if found:
        raise LabSpecError(problem="; ".join(found))
