"""Requests of the frontier, as the API gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict

from skitter.api.kinds import Told
from skitter.masking import mask_text, mask_value

if TYPE_CHECKING:
    from skitter.frontier import Request

MOST_BODY = 2_000


class RequestOut(Told):
    """A request that waits, or that was given up. Secrets in its headers are masked."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "url": "https://books.example/page/2",
                    "method": "GET",
                    "headers": {},
                    "body": "",
                    "callback": "parse",
                    "depth": 1,
                    "priority": 0,
                    "attempts": 0,
                    "crashes": 0,
                    "meta": {},
                }
            ]
        }
    )

    url: str
    method: str
    headers: dict[str, Any]
    body: str
    callback: str
    depth: int
    priority: int
    attempts: int
    crashes: int
    meta: dict[str, Any]


def request_out(request: Request) -> RequestOut:
    """A request as it is shown."""
    return RequestOut(
        url=mask_text(request.url),
        method=request.method,
        headers=mask_value(request.headers),
        body=mask_text(request.body[:MOST_BODY].decode("utf-8", "replace")),
        callback=request.callback,
        depth=request.depth,
        priority=request.priority,
        attempts=request.attempts,
        crashes=request.crashes,
        meta=mask_value(request.meta),
    )
