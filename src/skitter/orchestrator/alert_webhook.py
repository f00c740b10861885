"""Webhooks that are told of alerts: a POST with JSON, done when the answer is a 2xx.

The store knows a webhook by a digest: its URL may hold a secret.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import aiohttp

from skitter.masking import mask_text
from skitter.orchestrator.errors import DeliveryFailed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FIRST_S, LONGEST_S = 2.0, 600.0


def targets_of(urls: Iterable[str]) -> dict[str, str]:
    """Webhooks by the name that the store has for them."""
    return {blake2b(url.encode(), digest_size=8).hexdigest(): url for url in urls}


def pause_s(attempts: int) -> float:
    """How long to wait after so many attempts that failed."""
    return float(min(LONGEST_S, FIRST_S * 2 ** min(attempts, 20)))


async def post(url: str, body: Mapping[str, Any], *, timeout_s: float) -> None:
    """Tell a webhook; raises DeliveryFailed."""
    headers = {"Skitter-Event": str(body["id"]), "User-Agent": "Skitter"}
    timeout = aiohttp.ClientTimeout(total=timeout_s)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(url, json=dict(body), headers=headers, allow_redirects=False) as answer,
        ):
            status = answer.status
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
        reason = mask_text(str(error) or type(error).__name__)
        raise DeliveryFailed(url=mask_text(url), reason=reason) from error
    if not 200 <= status < 300:
        raise DeliveryFailed(url=mask_text(url), reason=f"it answered {status}")
