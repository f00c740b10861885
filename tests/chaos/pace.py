"""Judges the pace of a round as the lab's referee does, from what clients noted before each write.

A visit lasts from its write until the host's answer, or until its client was killed. One whose
client was frozen between its last check and its write is not judged: the docs name that limit.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.chaos.findings import Findings
    from tests.chaos.history import Event
    from tests.chaos.web import TinyWeb

FROZEN_MS = 50.0


@dataclass(frozen=True)
class Visit:
    worker: str
    url: str
    begin: float
    end: float


def judge_pace(findings: Findings, events: list[Event], web: TinyWeb) -> None:
    """Gaps shorter than the host's delay, and more visits at once than it allows."""
    for host, visits in _visits(findings, events).items():
        delay_ms, concurrency = web.policy(host)
        findings.figures["visits"] += len(visits)
        if delay_ms:
            _judge_gaps(findings, visits, delay_ms)
        else:
            _judge_crowd(findings, visits, concurrency)


def _visits(findings: Findings, events: list[Event]) -> dict[str, list[Visit]]:
    deaths = {event.fields["of"]: event.at for event in events if event.name == "kill"}
    visits: dict[str, list[Visit]] = defaultdict(list)
    for event in events:
        if event.name != "write":
            continue
        if event.at - event.fields["checked"] > FROZEN_MS:
            findings.figures["frozen_writes"] += 1
            continue
        death = deaths.get(event.worker, float("inf"))
        end = min(event.at + event.fields["ms"], max(death, event.at))
        visit = Visit(event.worker, event.fields["url"], event.at, end)
        visits[event.fields["host"]].append(visit)
    return visits


def _judge_gaps(findings: Findings, visits: list[Visit], delay_ms: int) -> None:
    last = visits[0]
    for visit in visits[1:]:
        gap_ms = visit.begin - last.end
        if gap_ms < 0:
            findings.add("concurrency_over_policy", f"{visit} during {last}")
        elif gap_ms < delay_ms:
            findings.add("gaps_under_policy", f"{gap_ms:.2f} ms, not {delay_ms}: {visit}, {last}")
        if visit.end > last.end:
            last = visit


def _judge_crowd(findings: Findings, visits: list[Visit], concurrency: int) -> None:
    inside: list[Visit] = []
    for visit in visits:
        inside = [*(other for other in inside if other.end > visit.begin), visit]
        if len(inside) > concurrency:
            findings.add("concurrency_over_policy", f"{len(inside)}, not {concurrency}: {inside}")
