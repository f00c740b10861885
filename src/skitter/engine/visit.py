"""A visit: one leased request while Scrapy has it, and what its settlement will say.

`CURRENT` is the visit that the running code belongs to: requests, items and errors are its own.
It is set around every hand-over to Scrapy's engine and follows into the tasks that begin there.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skitter.frontier import Request
    from skitter.intake import Page


class Visit:
    """A page in Scrapy's hands.

    given: its response reached the spider. trouble: why it is not simply done, as reason and error.
    verdict: what the downloader says, where the request is not for the spider. exhausted: this was
    its last attempt, and it failed too.
    over: it is settled, and whatever comes later is not its own. mark: the state of the cookie jar.
    strangers: its requests to other spiders, by spider.
    """

    __slots__ = (
        "equals",
        "exhausted",
        "figures",
        "given",
        "mark",
        "over",
        "page",
        "strangers",
        "trouble",
        "verdict",
    )

    def __init__(self, page: Page, *, mark: str = "") -> None:
        self.page = page
        self.mark = mark
        self.given = False
        self.over = False
        self.trouble: tuple[str, str] | None = None
        self.verdict: Exception | None = None
        self.exhausted: tuple[str, str] | None = None
        self.figures: dict[str, int] = {}
        self.equals: dict[str, int] = {}
        self.strangers: dict[str, list[Request]] = {}

    @property
    def job(self) -> str:
        """The job of the request in hand."""
        return self.page.request.job

    def count(self, name: str, number: int = 1) -> None:
        """Add to a figure of its settlement."""
        self.figures[name] = self.figures.get(name, 0) + number

    def fail(self, reason: str, error: str) -> None:
        """Note why it is not simply done; the first reason counts."""
        if self.trouble is None:
            self.trouble = (reason, error)


CURRENT: ContextVar[Visit | None] = ContextVar("skitter_visit", default=None)


def current() -> Visit | None:
    """The visit that the running code belongs to, if it is not over."""
    visit = CURRENT.get()
    return None if visit is None or visit.over else visit
