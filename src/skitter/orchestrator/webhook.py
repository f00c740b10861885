"""A webhook: a job, as JSON, posted to a URL, and signed if there is a secret.

`X-Skitter-Event` is the same at each attempt. `X-Skitter-Signature` is `sha256=` and the HMAC of
the time in `X-Skitter-Timestamp`, a dot and the body, so that an old call cannot be sent again
later as a new one. Any 2xx is success; redirects are not followed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import aiohttp

from skitter.masking import mask_text
from skitter.service_errors import ActionFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skitter.jobs.view import JobView

MOST_ANSWER = 200


class Webhook:
    """Calls webhooks, one attempt each."""

    def __init__(self, *, timeout_s: float, user_agent: str) -> None:
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)
        self._user_agent = user_agent

    async def call(self, view: JobView, options: dict[str, Any], event: str) -> None:
        """Tell of a job's end; raises ActionFailed."""
        await self.post(options, {"event": event, "kind": "ended", "job": view.to_json()})

    async def post(self, options: Mapping[str, Any], payload: dict[str, Any]) -> None:
        """Post what `payload` says to `url`, with `headers`, signed with `secret`."""
        url = str(options.get("url", ""))
        if urlsplit(url).scheme not in ("http", "https"):
            raise ActionFailed(reason=f"{mask_text(url)!r} is no URL of a webhook")
        body = json.dumps(payload).encode()
        headers = self._headers(options, str(payload.get("event", "")), body)
        try:
            async with (
                aiohttp.ClientSession(timeout=self._timeout) as session,
                session.post(url, data=body, headers=headers, allow_redirects=False) as answer,
            ):
                said = (await answer.content.read(MOST_ANSWER)).decode("utf-8", "replace")
                status = answer.status
        except (aiohttp.ClientError, OSError, ValueError, TimeoutError) as error:
            reason = f"{mask_text(url)}: {type(error).__name__}: {error}"
            raise ActionFailed(reason=reason) from error
        if not 200 <= status < 300:
            raise ActionFailed(reason=f"{mask_text(url)} answers {status}: {said}")

    def _headers(self, options: Mapping[str, Any], event: str, body: bytes) -> dict[str, str]:
        at = str(int(time.time()))
        headers = {str(name): str(value) for name, value in options.get("headers", {}).items()}
        headers |= {
            "Content-Type": "application/json",
            "User-Agent": self._user_agent,
            "X-Skitter-Event": event,
            "X-Skitter-Timestamp": at,
        }
        if secret := str(options.get("secret", "")):
            headers["X-Skitter-Signature"] = sign(secret, at, body)
        return headers


def sign(secret: str, at: str, body: bytes) -> str:
    """What the header `X-Skitter-Signature` must be: a receiver works it out too, and compares."""
    return (
        "sha256=" + hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    )
