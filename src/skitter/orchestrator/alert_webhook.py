"""Webhooks that are told of alerts: known to the store by a digest, for a URL may hold a secret."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

from skitter.orchestrator.webhook import Webhook

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from skitter.settings.orchestration import AlertSettings

FIRST_S, LONGEST_S = 2.0, 600.0
AGENT = "Skitter"


def targets_of(urls: Iterable[str]) -> dict[str, str]:
    """Webhooks by the name that the store has for them."""
    return {blake2b(url.encode(), digest_size=8).hexdigest(): url for url in urls}


def pause_s(attempts: int) -> float:
    """How long to wait after so many attempts that failed."""
    return float(min(LONGEST_S, FIRST_S * 2 ** min(attempts, 20)))


async def post(url: str, body: Mapping[str, Any], settings: AlertSettings) -> None:
    """Tell a webhook, signed if there is a secret; raises ActionFailed."""
    webhook = Webhook(timeout_s=settings.timeout_s, user_agent=AGENT)
    await webhook.post({"url": url, "secret": settings.secret or ""}, dict(body))
