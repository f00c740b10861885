"""The lab's web as pure functions: what a URL is, and where it leads, from the seed alone.

A host is a number put into the host pattern; its pages are numbers too. The binary tree over
hosts and, within a host, over pages is always linked, so that everything can be reached from the
first host's home page; the rest of a page's links are chance, on hosts that follow Zipf's law.
Home pages never fail, so that a permanent fault cuts off no host at its root.
Nothing here knows of time or of attempts: `site` adds those.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from urllib.parse import urlsplit

from skitter.lab.demos import Demos
from skitter.lab.dice import Dice, zipf_rank
from skitter.lab.spec import Fault, WebSpec

REDIRECT_STATUSES = (301, 302, 303, 307, 308)
_PAGE = re.compile(r"/p/([1-9]\d{0,15})")

Link = tuple[int, str]
"""A host's number and a path on it."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How a host wants to be asked."""

    delay_ms: float
    """The least time from one answer's head to the next request; 0 is none."""
    concurrency: int


class Web:
    """The web that a spec describes."""

    def __init__(self, spec: WebSpec) -> None:
        self.spec = spec
        self.dice = Dice(spec.seed)
        self.demos = Demos(spec, self.dice)
        self._name_start, self._name_end = spec.host_pattern.split("{n}")

    def host(self, number: int) -> str:
        """The name of the host with this number."""
        return f"{self._name_start}{number}{self._name_end}"

    def hosts(self) -> Iterator[str]:
        """Every host's name, by number."""
        return map(self.host, range(self.spec.hosts))

    def host_number(self, host: str) -> int | None:
        """The number of a host of this web, or None for a name that is not in it."""
        digits = host.removeprefix(self._name_start).removesuffix(self._name_end)
        if not (digits.isascii() and digits.isdigit()) or len(digits) > 15:
            return None
        number = int(digits)
        return number if number < self.spec.hosts and self.host(number) == host else None

    def url(self, link: Link) -> str:
        """The absolute URL of a link, on the default port."""
        return f"http://{self.host(link[0])}{link[1]}"

    def locate(self, url: str) -> Link | None:
        """The host number and the path with query of a URL, or None if it is not in this web."""
        parts = urlsplit(url)
        number = self.host_number(parts.hostname or "")
        if number is None:
            return None
        path = parts.path or "/"
        return number, f"{path}?{parts.query}" if parts.query else path

    def policy(self, host: str) -> Policy | None:
        """How this host wants to be asked; None for a name that is not in this web."""
        demo = self.demos.at(host)
        if demo is not None:
            return _policy(demo.delay_ms, demo.concurrency)
        number = self.host_number(host)
        if number is None:
            return None
        spec = self.spec
        delay_ms = spec.delays_ms[number % len(spec.delays_ms)]
        return _policy(delay_ms, spec.concurrency[number % len(spec.concurrency)])

    def disallow(self, host: str) -> tuple[str, ...]:
        """The paths that a host's robots.txt forbids to every agent."""
        demo = self.demos.at(host)
        return self.spec.disallow if demo is None else demo.disallow

    def disallowed(self, path: str, *, host: str = "") -> bool:
        """Whether robots.txt forbids this path; it is the same for every host but the demos'."""
        return self.spec.robots and path.startswith(self.disallow(host))

    def page_number(self, path: str) -> int | None:
        """The number of the page at a path, or None if no ordinary page is there."""
        if path == "/":
            return 0
        match = _PAGE.fullmatch(path)
        number = int(match[1]) if match else self.spec.pages
        return number if number < self.spec.pages else None

    def links(self, host: int, page: int) -> list[Link]:
        """Where an ordinary page leads, in the order of its text, each target once."""
        roll = self.dice.stream("links", host, page)
        found = dict.fromkeys(self._tree_links(host, page))
        tries = 4 * self.spec.links  # a small web has fewer targets than links
        while len(found) < self.spec.links and tries:
            found[self._chance_link(host, roll)] = None
            tries -= 1
        found.update(dict.fromkeys(self._mischief_links(host, page, roll)))
        return list(found)

    def fault(self, host: int, page: int) -> Fault | None:
        """The fault of an ordinary page, if it has one."""
        if page == 0 or not self.spec.faults:
            return None
        share = self.dice.share("fault", host, page)
        for fault in self.spec.faults:
            share -= fault.rate
            if share < 0:
                return fault
        return None

    def latency_ms(self, host: int | str, path: str) -> float:
        """How long the server thinks before it answers for a path."""
        low, high = self.spec.latency_ms
        if not high:
            return 0.0
        return low + (high - low) * self.dice.share("latency", host, path)

    def drips(self, host: int, page: int) -> bool:
        """Whether a page's body comes in pieces."""
        rate = self.spec.drip.rate
        return bool(rate) and self.dice.share("drip", host, page) < rate

    def charset(self, host: int, page: int) -> str:
        """The charset that a page is written in."""
        choices = self.spec.charsets
        if len(choices) == 1:
            return choices[0]
        return choices[self.dice.number("charset", host, page) % len(choices)]

    def redirect_status(self, host: int, path: str) -> int:
        """Which kind of redirect a redirecting path answers with."""
        return REDIRECT_STATUSES[self.dice.number("redirect", host, path) % len(REDIRECT_STATUSES)]

    def edition(self, host: int, page: int, *, now_s: float) -> tuple[int, float]:
        """Which edition of a page is out at a time, and since when."""
        period_s = self.spec.change_s
        if not period_s:
            return 0, 0.0
        phase_s = period_s * self.dice.share("phase", host, page)
        edition = int((now_s + phase_s) // period_s)
        return edition, edition * period_s - phase_s

    def _tree_links(self, host: int, page: int) -> Iterator[Link]:
        for child in (2 * page + 1, 2 * page + 2):
            if child < self.spec.pages:
                yield host, f"/p/{child}"
        if page == 0:
            for neighbour in (2 * host + 1, 2 * host + 2):
                if neighbour < self.spec.hosts:
                    yield neighbour, "/"

    def _chance_link(self, host: int, roll: Random) -> Link:
        spec = self.spec
        target = host
        if roll.random() >= spec.local_links:
            target = zipf_rank(roll.random(), count=spec.hosts, exponent=spec.zipf)
        page = int(roll.random() * spec.pages)
        if spec.redirects and roll.random() < spec.redirects:
            return host, f"/go/{target}/{page}"
        return target, f"/p/{page}" if page else "/"

    def _mischief_links(self, host: int, page: int, roll: Random) -> Iterator[Link]:
        private, traps, loops = (roll.random() for _ in range(3))
        if private < self.spec.private_links:
            yield host, f"/private/{page}"
        if traps < self.spec.traps:
            yield host, "/a" if page % 2 else "/calendar/2026/11"
        if loops < self.spec.redirect_loops:
            yield host, f"/loop/{page}/a"


def _policy(delay_ms: float, concurrency: int) -> Policy:
    return Policy(delay_ms=delay_ms, concurrency=1 if delay_ms else concurrency)
