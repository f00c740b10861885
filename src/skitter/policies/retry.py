"""What becomes of a failed attempt: tried again later, buried, or given to the spider as it is.

How long to wait is the frontier's RetryPolicy; here it is decided for which reasons there is a next
time, and how many times each has. A reason is one word (see `failures`), or `http 503`.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal

from skitter.frontier import RetryPolicy
from skitter.frontier.opening import retry_policy_of
from skitter.policies.failures import classify
from skitter.settings import RetrySettings

__all__ = ["Decision", "RetryRules", "classify", "retry_after_ms"]

STATUSES = frozenset({500, 502, 503, 504, 522, 524, 408, 429})
_SECONDS = re.compile(r"\s*(\d{1,10})(?:\.\d*)?\s*")


@dataclass(frozen=True, slots=True)
class Decision:
    """retry after wait_ms; bury, as it was the last time; or give the response to the spider."""

    action: Literal["retry", "bury", "give"]
    wait_ms: int = 0
    reason: str = ""


GIVE = Decision("give")


@dataclass(frozen=True, kw_only=True)
class RetryRules:
    """For which reasons there is a next time.

    attempts overrides the policy's number of attempts for a reason: a word, `http` for all
    statuses, or a status. give_last: a response whose last attempt failed goes to the spider, as
    in Scrapy, and is not buried.
    """

    policy: RetryPolicy = field(default_factory=RetryPolicy)
    statuses: frozenset[int] = STATUSES
    attempts: dict[str, int] = field(default_factory=dict)
    max_retry_after_ms: float = 3_600_000
    give_last: bool = False

    @classmethod
    def of(cls, settings: RetrySettings, *, max_retry_after_s: float = 3600) -> RetryRules:
        """The rules that the settings describe."""
        pairs = (rule.partition("=") for rule in settings.attempts)
        return cls(
            policy=retry_policy_of(settings),
            statuses=frozenset(settings.statuses),
            attempts={reason: int(number) for reason, _, number in pairs},
            max_retry_after_ms=max_retry_after_s * 1000,
        )

    def decide(
        self,
        attempts: int,
        *,
        status: int = 0,
        error: BaseException | None = None,
        reason: str = "",
        retry_after: str | bytes = "",
        most: int | None = None,
    ) -> Decision:
        """What to do after `attempts` earlier tries and this one.

        One of status (a response came), error (an exception) and reason (`callback`, `item`,
        `sink`, …) says what happened. most is the request's own bound on attempts.
        """
        if status and status not in self.statuses:
            return GIVE
        reason = reason or (f"http {status}" if status else classify(error or TimeoutError()))
        policy = self._policy(reason, status, most)
        after_ms = retry_after_ms(retry_after, most_ms=self.max_retry_after_ms)
        wait_ms = policy.wait_ms(attempts, reason=reason, retry_after_ms=after_ms)
        if wait_ms is not None:
            return Decision("retry", wait_ms, reason)
        return Decision("give" if status and self.give_last else "bury", reason=reason)

    def _policy(self, reason: str, status: int, most: int | None) -> RetryPolicy:
        known = self.attempts
        if most is None and known:
            most = known.get(str(status), known.get("http")) if status else known.get(reason)
        return self.policy if most is None else replace(self.policy, max_attempts=max(1, most))


def retry_after_ms(
    value: str | bytes, *, most_ms: float = 3_600_000, now_s: float | None = None
) -> float:
    """What a Retry-After header asks for, in seconds or as a date; 0 if it cannot be read."""
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    if not text:
        return 0.0
    seconds = _SECONDS.fullmatch(text)
    if seconds:
        return min(most_ms, int(seconds[1]) * 1000.0)
    try:
        date = parsedate_to_datetime(text[:100])
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        now = datetime.fromtimestamp(time.time() if now_s is None else now_s, UTC)
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return min(most_ms, max(0.0, (date - now).total_seconds() * 1000))
