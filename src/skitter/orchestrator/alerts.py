"""What people ask about alerts: how rules stand, what happened, and whether webhooks hear it."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from skitter.orchestrator.alert_rows import read_events, read_states
from skitter.orchestrator.alert_webhook import post
from skitter.orchestrator.alerter import rules_of
from skitter.service_errors import ActionFailed

if TYPE_CHECKING:
    from skitter.orchestrator.alert_rules import AlertState, Rule
    from skitter.settings.orchestration import AlertSettings
    from skitter.store import Store


class Alerts:
    """For the CLI and the API."""

    def __init__(self, store: Store, settings: AlertSettings) -> None:
        self._store = store
        self._settings = settings

    def rules(self) -> list[dict[str, Any]]:
        """All rules, as they count."""
        return [asdict(rule) for rule in rules_of(self._settings).values()]

    async def firing(self, *, pending: bool = False) -> list[dict[str, Any]]:
        """Rules that fire now; with those that may soon, if asked for."""
        states = await self._store.read(read_states)
        rules = rules_of(self._settings)
        return [
            _told(state, rules.get(state.rule))
            for state in sorted(states.values(), key=lambda state: state.since)
            if pending or state.phase == "firing"
        ]

    async def events(self, *, limit: int = 50) -> list[dict[str, Any]]:
        """What fired and cleared, the newest first."""
        return await self._store.read(lambda found: read_events(found, limit=limit))

    async def test(self) -> dict[str, str]:
        """Send each webhook a message that says it is a test; how each took it."""
        now_ms = int(time.time() * 1000)
        body = {
            "event": f"test-{now_ms}",
            "kind": "test",
            "rule": "test",
            "severity": "info",
            "label": "",
            "value": 0,
            "above": 0,
            "summary": "This is a test: alerts will come this way",
            "hint": "",
            "fired_at_ms": now_ms,
            "at_ms": now_ms,
        }
        answers: dict[str, str] = {}
        for number, url in enumerate(self._settings.webhooks, 1):
            try:
                await post(url, body, self._settings)
                answers[f"webhook {number}"] = "ok"
            except ActionFailed as failure:
                answers[f"webhook {number}"] = failure.summary
        return answers


def _told(state: AlertState, rule: Rule | None) -> dict[str, Any]:
    said = asdict(state)
    if rule:
        said |= {"severity": rule.severity, "summary": rule.tell(state.label, state.value)}
        said["hint"] = rule.hint.format(label=state.label)
    return said
