"""Judges a crawler at the server, by the server's clock, never by the crawler's word.

A request arrives when its head was read. For pace it ends when the answer's head goes out, or
when either side cuts it before: a crawler waits from the head it sees, which is later still, so
an honest one is never accused. In flight: on a host with a delay until that same moment, for
there the pace is what is promised; on one without a delay until the body is out, for there the
limit is on load, and a body is load. robots.txt is judged like any other request for pace, and
never counts as a duplicate, for each worker may read it anew.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from skitter.lab.verdict import Coverage, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from skitter.lab.graph import Graph
    from skitter.lab.web import Web

_NS_PER_MS = 1_000_000


@dataclass(frozen=True)
class Judging:
    """How strictly to judge, and how much to remember."""

    tolerance_ms: float = 0.0
    """How much shorter than its policy a gap may be."""
    disconnect_tolerance_ms: float = 50.0
    """The same after a client hung up: when it did so is known only by when it was noticed."""
    per_client_address: bool = False
    """Whether each address that clients come from has a pace of its own, as exits do."""
    keep: int = 100
    """How many findings of each kind are kept in full."""
    log: int = 0
    """How many requests, the latest ones, are kept for the log."""


@dataclass(slots=True, eq=False)
class Visit:
    """A request on its way, from arrival to end."""

    url: str
    path: str
    method: str
    client: str
    arrived_ns: int
    ledger: Ledger | None
    there: Callable[[], bool]
    """Asks the connection whether the client is still at the other end."""
    status: str = ""
    trap: bool = False
    head_ns: int = 0
    over: bool = False
    era: int = 0
    """Which reset it came after."""


@dataclass(slots=True)
class Ledger:
    """What is known of one host's pace."""

    host: str
    delay_ns: int
    concurrency: int
    in_flight: list[Visit] = field(default_factory=list)
    last_end_ns: int = -1
    exact: bool = True
    """Whether the last end is known to the nanosecond, or only when it was noticed."""


class Referee:
    """Watches every request; the server calls `arrive`, `head` and `end` for each."""

    def __init__(
        self,
        web: Web,
        judging: Judging | None = None,
        *,
        now_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._web = web
        self._judging = judging or Judging()
        self._now_ns = now_ns
        self._era = 0
        self.reset()

    def reset(self) -> None:
        """Forget everything; requests on their way end unjudged."""
        self._era += 1
        self._ledgers: dict[tuple[str, str], Ledger | None] = {}
        self._outcomes: dict[str, bool] = {}
        self._verdict = Verdict()
        self._statuses: Counter[str] = Counter()
        self._hosts: set[str] = set()
        self._first_ns = self._last_ns = 0
        self._log: deque[Visit] = deque(maxlen=self._judging.log)

    def arrive(
        self,
        *,
        host: str,
        target: str,
        method: str,
        client: str,
        there: Callable[[], bool],
        at_ns: int,
    ) -> Visit:
        """A request's head was read, at this time."""
        ledger = self._ledger(host, client)
        visit = Visit(
            url=f"http://{host}{target}",
            path=target,
            method=method,
            client=client,
            arrived_ns=at_ns,
            ledger=ledger,
            there=there,
            era=self._era,
        )
        self._note(host, visit)
        if ledger is not None:
            self._judge_pace(ledger, visit)
            ledger.in_flight.append(visit)
            if self._web.disallowed(target, host=host):
                self._verdict.disallowed.add({"url": visit.url}, keep=self._judging.keep)
        return visit

    def head(self, visit: Visit, *, status: int, trap: bool = False) -> None:
        """The answer's head is about to be written."""
        visit.head_ns = self._now_ns()
        visit.status = str(status)
        visit.trap = trap
        if visit.ledger is not None and visit.ledger.delay_ns:
            self._leave(visit, exact=True)

    def end(self, visit: Visit, *, whole: bool) -> None:
        """The answer is out, or the server cut it; calling twice is calling once."""
        self._close(visit, whole=whole, exact=True)

    def cut(self, visit: Visit, *, kind: str) -> None:
        """The server broke off, before the head or after it."""
        visit.status = kind
        self.end(visit, whole=False)

    def disconnect(self, visit: Visit) -> None:
        """The client hung up before the answer was out."""
        visit.status = visit.status or "disconnected"
        self._close(visit, whole=False, exact=False)

    def verdict(self, graph: Graph | None = None) -> Verdict:
        """The judgement so far; with a graph, coverage too."""
        verdict = self._verdict
        verdict.hosts = len(self._hosts)
        verdict.statuses = dict(sorted(self._statuses.items()))
        verdict.duration_s = max(0, self._last_ns - self._first_ns) / 1e9
        verdict.coverage = self._coverage(graph) if graph is not None else None
        return Verdict.from_json(verdict.to_json())

    def log(self) -> Iterable[dict[str, Any]]:
        """The latest requests, in order of arrival, as far as they are kept."""
        for visit in list(self._log):
            yield {
                "url": visit.url,
                "method": visit.method,
                "client": visit.client,
                "status": visit.status,
                "arrived_ns": visit.arrived_ns,
                "head_ns": visit.head_ns or None,
            }

    def _ledger(self, host: str, client: str) -> Ledger | None:
        key = (host, client if self._judging.per_client_address else "")
        try:
            return self._ledgers[key]
        except KeyError:
            policy = self._web.policy(host)
        if policy is None:
            return None
        ledger = Ledger(host, int(policy.delay_ms * _NS_PER_MS), policy.concurrency)
        self._ledgers[key] = ledger
        return ledger

    def _note(self, host: str, visit: Visit) -> None:
        self._verdict.requests += 1
        self._first_ns = self._first_ns or visit.arrived_ns
        self._hosts.add(host)
        if self._outcomes.get(visit.url) is False:
            self._verdict.retries += 1
        if self._judging.log:
            self._log.append(visit)

    def _judge_pace(self, ledger: Ledger, visit: Visit) -> None:
        if len(ledger.in_flight) >= ledger.concurrency:
            self._notice_departures(ledger)
        if len(ledger.in_flight) >= ledger.concurrency:
            example = {
                "url": visit.url,
                "in_flight": len(ledger.in_flight) + 1,
                "allowed": ledger.concurrency,
                "client": visit.client,
            }
            self._verdict.concurrency.add(example, keep=self._judging.keep)
        elif ledger.delay_ns and ledger.last_end_ns >= 0:
            self._judge_gap(ledger, visit)

    def _notice_departures(self, ledger: Ledger) -> None:
        """End what clients left: in one round of the loop, news of that may come after arrivals."""
        for earlier in list(ledger.in_flight):
            if not earlier.there():
                self.disconnect(earlier)

    def _judge_gap(self, ledger: Ledger, visit: Visit) -> None:
        gap_ns = visit.arrived_ns - ledger.last_end_ns
        tolerance_ms = self._judging.tolerance_ms
        if ledger.exact:
            self._note_margin((gap_ns - ledger.delay_ns) / _NS_PER_MS)
        else:
            tolerance_ms = max(tolerance_ms, self._judging.disconnect_tolerance_ms)
        if gap_ns + int(tolerance_ms * _NS_PER_MS) < ledger.delay_ns:
            example = {
                "url": visit.url,
                "gap_ms": gap_ns / _NS_PER_MS,
                "delay_ms": ledger.delay_ns / _NS_PER_MS,
                "client": visit.client,
            }
            self._verdict.gaps.add(example, keep=self._judging.keep)

    def _note_margin(self, margin_ms: float) -> None:
        tightest_ms = self._verdict.tightest_margin_ms
        if tightest_ms is None or margin_ms < tightest_ms:
            self._verdict.tightest_margin_ms = margin_ms

    def _leave(self, visit: Visit, *, exact: bool) -> None:
        """The visit is no longer in flight on its host, which takes note of when."""
        ledger = visit.ledger
        if ledger is None or visit not in ledger.in_flight:
            return
        ledger.in_flight.remove(visit)
        ledger.last_end_ns = visit.head_ns or self._now_ns()
        ledger.exact = exact

    def _close(self, visit: Visit, *, whole: bool, exact: bool) -> None:
        if visit.over:
            return
        visit.over = True
        self._leave(visit, exact=exact)
        if visit.era != self._era:
            return
        self._last_ns = self._now_ns()
        self._statuses[visit.status] += 1
        self._verdict.traps += visit.trap
        if visit.method == "GET" and visit.path != "/robots.txt":
            self._settle(visit, whole=whole)

    def _settle(self, visit: Visit, *, whole: bool) -> None:
        """Note whether the URL was answered; a whole 200 after a whole 200 is a duplicate."""
        fetched = whole and visit.status == "200"
        before = self._outcomes.get(visit.url)
        if before and fetched:
            example = {"url": visit.url, "client": visit.client}
            self._verdict.duplicates.add(example, keep=self._judging.keep)
        failed = not whole or visit.status[0] in "45"
        if fetched or (failed and not before):
            self._outcomes[visit.url] = fetched

    def _coverage(self, graph: Graph) -> Coverage:
        missing = sorted(url for url in graph.pages if not self._outcomes.get(url))
        expected = len(graph.pages)
        return Coverage(
            expected=expected,
            answered=expected - len(missing),
            missing=missing[: self._judging.keep],
        )
