"""The alert loop: measures, judges, keeps how rules stand, and tells webhooks what changed.

What happened and whom to tell is one transaction: a crash after it tells later, never not at all.
A webhook may hear of an event twice, by the same id.
"""

from __future__ import annotations

import time
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import structlog

from skitter.orchestrator.alert_rows import (
    LABEL_CHARS,
    Delivery,
    insert_event,
    read_deliveries,
    read_samples,
    read_states,
    write_delivery,
    write_sample,
    write_states,
)
from skitter.orchestrator.alert_rules import AlertState, Change, Key, Rule, evaluate, load_rules
from skitter.orchestrator.alert_webhook import pause_s, post, targets_of
from skitter.orchestrator.term import keep_term
from skitter.orchestrator.watching import Watcher
from skitter.service_errors import ActionFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlalchemy import Connection

    from skitter.frontier import Frontier
    from skitter.orchestrator.counting import Sample
    from skitter.orchestrator.duty import Lead
    from skitter.settings.orchestration import AlertSettings
    from skitter.store import Store

log = structlog.get_logger(__name__)

AT_ONCE = 50
FRESH_S = 30.0  # how old a value may be in the store
MOST_SAMPLES, MOST_COUNTERS = 40, 10_000  # kept for the next leader


class Alerter:
    """Under a leader's term. clock is for tests, in seconds since 1970."""

    def __init__(
        self,
        frontier: Frontier,
        store: Store,
        settings: AlertSettings,
        lead: Lead,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._settings = settings
        self._lead = lead
        self._rules = rules_of(settings)
        self._targets = targets_of(settings.webhooks)
        self._clock = clock
        self._watcher = Watcher(frontier, store, self._rules, clock=clock)
        self._states: dict[Key, AlertState] | None = None
        self._written_at = self._sampled_at = 0.0

    async def tend(self) -> int:
        """One round; how many rules fired or cleared."""
        now = self._clock()
        if self._states is None:
            self._states = await self._store.read(read_states)
            samples = await self._store.read(read_samples)
            self._watcher.counting.go_on(samples, now=now)
        figures = await self._watcher.look()
        states, changes = evaluate(self._rules, figures, self._states, now=now)
        if changes or states.keys() != self._states.keys() or now - self._written_at > FRESH_S:
            await self._keep(states, changes, now)
        self._states = states
        await self._deliver()
        return len(changes)

    async def _keep(
        self, states: Mapping[Key, AlertState], changes: list[Change], now: float
    ) -> None:
        bodies = [event_body(self._rules[c.state.rule], c, now) for c in changes]
        term, sample = self._lead.term, self._sample(now)
        keep_s = self._watcher.counting.keep_s

        def write(connection: Connection) -> None:
            keep_term(connection, term)
            write_states(connection, states)
            if sample:
                write_sample(connection, sample, keep_s=keep_s)
            for body in bodies:
                insert_event(connection, body, self._targets)

        await self._store.write(write)
        self._written_at = now
        self._sampled_at = sample.at if sample else self._sampled_at
        for body in bodies:
            tell = log.info if body["kind"] == "cleared" else log.warning
            tell("alert", kind=body["kind"], rule=body["rule"], summary=body["summary"])

    def _sample(self, now: float) -> Sample | None:
        """What the next leader is to go on with, as often as their number allows."""
        counting = self._watcher.counting
        every_s = max(FRESH_S, counting.keep_s / MOST_SAMPLES)
        if counting.last is None or now - self._sampled_at < every_s:
            return None
        return counting.last.cut(MOST_COUNTERS)

    async def _deliver(self) -> None:
        now_ms = int(time.time() * 1000)
        waiting = await self._store.read(
            lambda found: read_deliveries(found, now_ms=now_ms, limit=AT_ONCE)
        )
        for delivery in waiting:
            await self._send(delivery)

    async def _send(self, delivery: Delivery) -> None:
        url = self._targets.get(delivery.target)
        error, again = "", False
        try:
            if url is None:
                error = "this webhook is in the settings no more"
            else:
                await post(url, delivery.body, self._settings)
        except ActionFailed as failure:
            error = failure.summary
            again = delivery.attempts + 1 < self._settings.attempts
            log.warning("alert not delivered", error=error, again=again)
        now = time.time()
        next_ms = int((now + pause_s(delivery.attempts)) * 1000) if again else None
        done_ms = None if error else int(now * 1000)
        await self._store.write(
            lambda found: write_delivery(
                found, delivery, next_ms=next_ms, done_ms=done_ms, error=error
            )
        )


def rules_of(settings: AlertSettings) -> dict[str, Rule]:
    """The rules that the settings describe."""
    pairs = (text.split("=") for text in settings.thresholds)
    thresholds = {name: float(number) for name, number in pairs}
    return load_rules(settings.file, thresholds=thresholds, off=settings.off)


def event_body(rule: Rule, change: Change, now: float) -> dict[str, Any]:
    """What a webhook is told. Its id is the same however often it is made."""
    state = change.state
    digest = blake2b(f"{rule.name} {state.label} {state.fired_at}".encode(), digest_size=8)
    label = state.label[:LABEL_CHARS]
    return {
        "event": f"{digest.hexdigest()}-{change.kind}",
        "kind": change.kind,
        "rule": rule.name,
        "severity": rule.severity,
        "label": label,
        "value": round(state.value, 4),
        "above": rule.above,
        "summary": rule.tell(label, state.value),
        "hint": rule.hint.format(label=label),
        "fired_at_ms": int(state.fired_at * 1000),
        "at_ms": int(now * 1000),
    }
