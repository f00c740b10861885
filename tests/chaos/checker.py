"""Checks a round's histories against the invariants: nothing lost, no lease live twice, no stale
settlement accepted, no live one refused. What the server still holds comes from an inventory.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

from tests.chaos.findings import Findings
from tests.chaos.grants import FINAL, Grant, add_ends, read_grants
from tests.chaos.orders import LEASE_MS

if TYPE_CHECKING:
    from tests.chaos.history import Event
    from tests.chaos.web import TinyWeb

# The server counts whole milliseconds of another clock than the stamps'.
SLACK_MS = 3.0


def check_histories(events: list[Event], *, web: TinyWeb, pending: set[str]) -> Findings:
    """pending: URLs that the server still has queued, leased or delayed."""
    findings = Findings()
    grants, reused = read_grants(events)
    add_ends(grants, events)
    if reused:
        findings.add("tokens_reused", f"{reused} tokens were given out again")
    by_url: dict[str, list[Grant]] = defaultdict(list)
    for grant in grants:
        by_url[grant.url].append(grant)
    _check_lost(findings, by_url, web=web, pending=pending)
    for url, leases in by_url.items():
        _check_pairs(findings, url, leases)
        _check_finals(findings, url, leases)
    for grant in grants:
        _check_refusals(findings, grant)
    for event in events:
        if event.name == "crash":
            findings.add("crashed", f"{event.worker}: {event.fields['error']}")
    findings.figures += _figures(events, grants)
    return findings


def _check_lost(
    findings: Findings, by_url: dict[str, list[Grant]], *, web: TinyWeb, pending: set[str]
) -> None:
    """A URL is owed once it was accepted: the seed, and the children of all that is done."""
    ahead, owed = [web.url(0)], {web.url(0)}
    while ahead:
        url = ahead.pop()
        settled = [s for grant in by_url.get(url, ()) for s in grant.settled]
        if url not in pending and not any(s.fate in FINAL and s.ok is not False for s in settled):
            findings.add("lost", url)
        if any(s.fate == "done" and s.ok for s in settled):
            new = [child for child in web.children(url) if child not in owed]
            owed.update(new)
            ahead += new
    findings.figures["urls"] += len(owed)


def _check_pairs(findings: Findings, url: str, leases: list[Grant]) -> None:
    for one, other in combinations(leases, 2):
        if not (_may_precede(one, other) or _may_precede(other, one)):
            example = f"{url}: {one.worker} from {one.sent:.0f}, {other.worker} {other.sent:.0f}"
            findings.add("double_live", example)
        for older, newer in ((one, other), (other, one)):
            for settled in older.settled:
                newest = newer.sent >= older.answered
                if settled.ok and newest and settled.sent > newer.answered:
                    findings.add("stale_accepted", f"{url}: {older.worker} after {newer.worker}")


def _may_precede(older: Grant, newer: Grant) -> bool:
    """Whether the older lease can have been over when the newer was given."""
    over = older.earliest_end_ms(LEASE_MS) <= newer.answered + SLACK_MS
    return over and max(older.confirmed, default=0.0) <= newer.answered


def _check_finals(findings: Findings, url: str, leases: list[Grant]) -> None:
    finals = [s for lease in leases for s in lease.settled if s.ok and s.fate in FINAL]
    if len(finals) > 1:
        findings.add("stale_accepted", f"{url} was ended {len(finals)} times")


def _check_refusals(findings: Findings, grant: Grant) -> None:
    """A refusal is right when the lease had run out, was taken back, or was settled before."""
    for settled in grant.settled:
        before = [s.sent for s in grant.settled if s.ok is not False and s.sent < settled.sent]
        if settled.ok is not False or before or grant.released:
            continue
        end_ms = min(grant.expiry_ms(LEASE_MS), grant.reaped)
        if settled.answered + SLACK_MS < end_ms:
            findings.add("refused_live", f"{grant.url}: {grant.worker} at {settled.sent:.0f}")


def _figures(events: list[Event], grants: list[Grant]) -> Counter[str]:
    refused = sum(s.ok is False for grant in grants for s in grant.settled)
    unanswered = sum(s.ok is None for grant in grants for s in grant.settled)
    kinds = Counter(event.fields["kind"] for event in events if event.name == "fault")
    return Counter(
        {
            "leases": len(grants),
            "settlements_refused": refused,
            "settlements_cut_off": unanswered,
            **{f"faults: {kind}": count for kind, count in kinds.items()},
        }
    )
