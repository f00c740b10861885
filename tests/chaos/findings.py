"""What a round has shown to be wrong, and how much it has tried."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

FAULTS = (
    "lost",
    "lost_items",
    "doubled_items",
    "wrong_items",
    "torn_lines",
    "refetched_needlessly",
    "double_live",
    "stale_accepted",
    "tokens_reused",
    "refused_live",
    "gaps_under_policy",
    "concurrency_over_policy",
    "disallowed",
    "counter_mismatches",
    "stalled",
    "crashed",
)


@dataclass
class Findings:
    """faults must be empty; figures say what happened on the way."""

    faults: Counter[str] = field(default_factory=Counter)
    figures: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def add(self, fault: str, example: str) -> None:
        self.faults[fault] += 1
        if self.faults[fault] <= 3:
            self.examples.append(f"{fault}: {example}")

    def merge(self, other: Findings) -> None:
        self.faults += other.faults
        self.figures += other.figures
        self.examples += other.examples

    def to_json(self) -> dict[str, Any]:
        return {name: self.faults[name] for name in FAULTS} | dict(sorted(self.figures.items()))
