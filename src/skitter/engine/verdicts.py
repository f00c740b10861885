"""What the downloader raises when a request is not for the spider: the settling reads it."""

from __future__ import annotations

from scrapy.exceptions import IgnoreRequest

ELSEWHERE = -1
"""In place of a status: the answer is the proxy's, and another is to be asked through."""


class NotSent(Exception):
    """Nothing was sent, and may not be: the lease is lost, given back, or the crawler stops."""


class TryLater(Exception):
    """The request is to be tried again after wait_ms."""

    def __init__(self, reason: str, *, wait_ms: int, error: str = "") -> None:
        super().__init__(f"{reason}: tried again in {wait_ms} ms")
        self.reason = reason
        self.wait_ms = wait_ms
        self.error = error


class GivenUp(Exception):
    """The request is not for the spider and will not be tried again."""

    def __init__(self, reason: str, *, error: str = "") -> None:
        super().__init__(f"{reason}: given up")
        self.reason = reason
        self.error = error


class Disallowed(IgnoreRequest):
    """robots.txt forbids it; the spider hears what it hears from Scrapy's own middleware."""

    def __init__(self) -> None:
        super().__init__("Forbidden by robots.txt")
