from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skitter.orchestrator.alert_rules import FIGURES, AlertState, Figures, Key, evaluate, load_rules
from skitter.orchestrator.errors import BadRules

RULES = load_rules()


class Watch:
    """Evaluates one rule again and again."""

    def __init__(self, rule: str, **changes: Any) -> None:
        self.rules = (
            {rule: load_rules(_file(rule, changes))[rule]} if changes else {rule: RULES[rule]}
        )
        self.rule = self.rules[rule]
        self.states: dict[Key, AlertState] = {}

    def at(self, now: float, **values: float) -> list[str]:
        figures: Figures = {self.rule.name: values}
        self.states, changes = evaluate(self.rules, figures, self.states, now=now)
        return [f"{change.state.label} {change.kind}" for change in changes]

    @property
    def phases(self) -> dict[str, str]:
        return {label: state.phase for (_, label), state in self.states.items()}


_FOLDER: list[Path] = []


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> None:
    _FOLDER[:] = [tmp_path]


def _file(rule: str, changes: dict[str, Any]) -> Path:
    path = _FOLDER[0] / "rules.yaml"
    rows = "\n".join(f"  {name}: {value!r}" for name, value in changes.items())
    path.write_text(f"{rule}:\n{rows}\n")
    return path


def test_every_figure_has_a_rule_and_every_rule_tells() -> None:
    assert {rule.figure for rule in RULES.values()} == set(FIGURES)
    for rule in RULES.values():
        assert "x.test" in rule.tell("x.test", rule.above + 1) or "{label}" not in rule.summary
        assert rule.hint


@pytest.mark.parametrize("name", sorted(RULES))
def test_each_fires_above_its_threshold_and_clears_below(name: str) -> None:
    watch, rule = Watch(name), RULES[name]
    assert watch.at(0, a=rule.above) == []  # at the threshold is not above it
    first = watch.at(10, a=rule.above + 1)
    fired = first or watch.at(10 + rule.for_s, a=rule.above + 1)
    assert fired == ["a fired"]
    assert watch.phases == {"a": "firing"}
    assert watch.at(20 + rule.for_s, a=rule.above + 2) == []  # told once
    assert watch.at(30 + rule.for_s + rule.clear_s, a=0) == ["a cleared"]
    assert watch.phases == {}


def test_a_wish_must_last() -> None:
    watch = Watch("backlog", for_s=60)
    assert watch.at(0, a=1e6) == []
    assert watch.phases == {"a": "pending"}
    assert watch.at(50, a=0) == []
    assert watch.at(55, a=1e6) == []
    assert watch.at(100, a=1e6) == []  # it began anew
    assert watch.at(115, a=1e6) == ["a fired"]


def test_a_short_dip_does_not_clear() -> None:
    watch = Watch("backlog", for_s=0, clear_s=30)
    assert watch.at(0, a=1e6) == ["a fired"]
    assert watch.at(10, a=0) == []
    assert watch.at(20, a=1e6) == []
    assert watch.at(30, a=0) == []
    assert watch.at(59, a=0) == []
    assert watch.at(60, a=0) == ["a cleared"]


def test_labels_stand_for_themselves_and_one_that_is_gone_clears() -> None:
    watch = Watch("no-progress", for_s=0)
    assert watch.at(0, a=1000, b=1) == ["a fired"]
    assert watch.at(1, b=1000) == ["b fired", "a cleared"] or watch.phases == {"b": "firing"}


def test_thresholds_files_and_rules_that_are_off(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(
        "backlog: {for_s: 5}\nmine: {figure: queued, above: 3, summary: 'many: {value}'}\n"
    )
    rules = load_rules(path, thresholds={"backlog": 7}, off=["worker-lost"])
    assert (rules["backlog"].above, rules["backlog"].for_s) == (7, 5)
    assert rules["backlog"].summary == RULES["backlog"].summary
    assert rules["mine"].tell("", 4) == "many: 4"
    assert "worker-lost" not in rules


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("backlog: {over: 1}", "unknown over"),
        ("mine: {figure: queued}", "mine"),
        ("backlog: {figure: moons}", "figures are queued"),
        ("backlog: {above: -1}", "0 or more"),
        ("backlog: {above: many}", "0 or more"),
        ("backlog: {severity: loud}", "severity is one of"),
        ("backlog: {summary: '{nobody}'}", "nobody"),
        ("[1, 2]", "rules by name"),
        ("backlog: [", "cannot read"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(text)
    with pytest.raises(BadRules, match=problem):
        load_rules(path)


def test_a_threshold_of_an_unknown_rule_is_refused() -> None:
    with pytest.raises(BadRules, match="there is no rule moon"):
        load_rules(thresholds={"moon": 1})
    with pytest.raises(BadRules, match="there is no rule moon"):
        load_rules(off=["moon"])
