"""Bodies of many lines (NDJSON), taken line by line as they come, never held whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skitter.access_errors import BadLines
from skitter.jobs.seed_files import Lines

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from fastapi import Request

MEDIA_TYPE = "application/x-ndjson"
LONGEST = 524_288


async def lines_of(
    request: Request, *, longest: int = LONGEST
) -> AsyncGenerator[tuple[int, str], None]:
    """The lines of a body with their numbers, without the blank ones and comments."""
    lines = Lines(longest)
    async for chunk in request.stream():
        for number, line in lines.split(chunk):
            yield number, _text(number, line)
    for number, line in lines.end():
        yield number, _text(number, line)


def _text(number: int, line: bytes | None) -> str:
    if line is None:
        raise BadLines(line=number, problem=f"is longer than {LONGEST:,} bytes")
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise BadLines(line=number, problem="is not UTF-8") from None
