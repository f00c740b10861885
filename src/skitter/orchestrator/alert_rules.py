"""Alert rules as data, and what they make of a moment's figures. Pure: it is told the time.

A figure has a value for each label: a job, a spider, a host, a worker, or '' for the whole; it is
measured for each rule, since rules look back by windows of their own. Each rule and label has a
state: pending while the figure has not been above for long enough, firing, then cleared.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import yaml

from skitter.orchestrator.errors import BadRules

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Severity = Literal["info", "warning", "critical"]
Phase = Literal["pending", "firing", "cleared"]
Figures = dict[str, dict[str, float]]  # by rule, by label
Key = tuple[str, str]

SHIPPED = Path(__file__).with_name("alert_rules.yaml")
FIGURES = (
    "queued",
    "stalled_s",
    "lost_workers",
    "error_share",
    "host_error_share",
    "dead_letters_growth",
    "quality_failed",
)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """When to tell someone. `least` is how many attempts a share must be of."""

    name: str
    figure: str
    above: float
    for_s: float = 0.0
    clear_s: float = 0.0
    window_s: float = 300.0
    least: int = 1
    severity: Severity = "warning"
    summary: str
    hint: str = ""

    def tell(self, label: str, value: float) -> str:
        """What happened, in a sentence."""
        return self.summary.format(label=label or "all", value=value, window_s=self.window_s)


@dataclass(frozen=True, kw_only=True)
class AlertState:
    """How a rule stands for one label. Times are seconds since 1970."""

    rule: str
    label: str
    phase: Phase
    since: float
    value: float
    fired_at: float = 0.0
    below_since: float | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A rule fired or cleared."""

    kind: Literal["fired", "cleared"]
    state: AlertState


def load_rules(
    file: Path | None = None,
    *,
    thresholds: Mapping[str, float] | None = None,
    off: Iterable[str] = (),
) -> dict[str, Rule]:
    """The shipped rules, with what a file says instead or besides, and with other thresholds."""
    rows = _read(SHIPPED)
    for name, row in (_read(file) if file else {}).items():
        rows[name] = rows.get(name, {}) | row
    for name, above in (thresholds or {}).items():
        _known(rows, name)["above"] = above
    for name in off:
        _known(rows, name)
    return {name: _rule(name, row) for name, row in rows.items() if name not in set(off)}


def evaluate(
    rules: Mapping[str, Rule], figures: Figures, states: Mapping[Key, AlertState], *, now: float
) -> tuple[dict[Key, AlertState], list[Change]]:
    """How all rules stand now, and which fired or cleared. A label that is gone counts as below."""
    found: dict[Key, AlertState] = {}
    changes: list[Change] = []
    for rule in rules.values():
        values = figures.get(rule.name, {})
        for label in {*values, *(key[1] for key in states if key[0] == rule.name)}:
            before = states.get((rule.name, label))
            state, change = _step(rule, label, values.get(label, 0.0), before, now)
            if state:
                found[rule.name, label] = state
            if change:
                changes.append(change)
    return found, changes


def _step(
    rule: Rule, label: str, value: float, before: AlertState | None, now: float
) -> tuple[AlertState | None, Change | None]:
    if value > rule.above:
        return _above(rule, label, value, before, now)
    if before is None or before.phase != "firing":
        return None, None
    below_since = now if before.below_since is None else before.below_since
    if now - below_since < rule.clear_s:
        return replace(before, value=value, below_since=below_since), None
    return None, Change("cleared", replace(before, phase="cleared", value=value, since=now))


def _above(
    rule: Rule, label: str, value: float, before: AlertState | None, now: float
) -> tuple[AlertState, Change | None]:
    if before and before.phase == "firing":
        return replace(before, value=value, below_since=None), None
    since = before.since if before else now
    if now - since < rule.for_s:
        pending: Phase = "pending"
        return AlertState(
            rule=rule.name, label=label, phase=pending, since=since, value=value
        ), None
    state = AlertState(
        rule=rule.name, label=label, phase="firing", since=since, value=value, fired_at=now
    )
    return state, Change("fired", state)


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        rows = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (OSError, yaml.YAMLError) as error:
        raise BadRules(problem=f"cannot read {path}: {error}") from error
    if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
        raise BadRules(problem=f"{path} must hold rules by name, each with names and values")
    return rows


def _known(rows: dict[str, dict[str, Any]], name: str) -> dict[str, Any]:
    if name not in rows:
        raise BadRules(problem=f"there is no rule {name}; known are {', '.join(sorted(rows))}")
    return rows[name]


def _rule(name: str, row: dict[str, Any]) -> Rule:
    unknown = set(row) - {field.name for field in fields(Rule)}
    if unknown:
        raise BadRules(problem=f"{name}: unknown {', '.join(sorted(unknown))}")
    try:
        rule = Rule(name=name, **row)
        rule.tell("", 0.0)
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        raise BadRules(problem=f"{name}: {error}") from error
    _check(rule)
    return rule


def _check(rule: Rule) -> None:
    numbers: tuple[Any, ...] = (rule.above, rule.for_s, rule.clear_s, rule.window_s, rule.least)
    if not all(isinstance(number, int | float) and number >= 0 for number in numbers):
        raise BadRules(problem=f"{rule.name}: its numbers must be 0 or more")
    if rule.figure not in FIGURES:
        raise BadRules(problem=f"{rule.name}: figures are {', '.join(FIGURES)}")
    if rule.severity not in get_args(Severity):
        raise BadRules(problem=f"{rule.name}: severity is one of {', '.join(get_args(Severity))}")
