"""What the referee found: plain values that become JSON, come back from it, and make a table."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Self

from rich.table import Table


@dataclass
class Finding:
    """One kind of finding: all are counted, the first ones are kept in full."""

    count: int = 0
    first: list[dict[str, Any]] = field(default_factory=list)

    def add(self, example: dict[str, Any], *, keep: int) -> None:
        """Count one more, and keep it while there is room."""
        self.count += 1
        if len(self.first) < keep:
            self.first.append(example)


@dataclass
class Coverage:
    """How much of the known graph was answered 200."""

    expected: int
    answered: int
    missing: list[str]
    """The first missing URLs, in order of their text."""

    @property
    def share(self) -> float:
        """From 0 to 1; a web with nothing to fetch is covered."""
        return self.answered / self.expected if self.expected else 1.0


@dataclass
class Verdict:
    """The referee's whole judgement; `polite` is the part that no crash excuses."""

    requests: int = 0
    hosts: int = 0
    duration_s: float = 0.0
    """From the first request to the last one's end."""
    statuses: dict[str, int] = field(default_factory=dict)
    """Answers by status; reset and truncated by the server, disconnected by the client."""
    gaps: Finding = field(default_factory=Finding)
    concurrency: Finding = field(default_factory=Finding)
    disallowed: Finding = field(default_factory=Finding)
    duplicates: Finding = field(default_factory=Finding)
    """URLs answered 200 again after a whole 200."""
    retries: int = 0
    """URLs asked for again after a fault or a cut answer: as it should be."""
    traps: int = 0
    """Answers from endless calendars and paths."""
    tightest_margin_ms: float | None = None
    """The smallest of gap less delay, hang-ups aside; below zero is under policy."""
    coverage: Coverage | None = None

    @property
    def violations(self) -> int:
        """Gaps too short, too many at a time, and forbidden paths."""
        return self.gaps.count + self.concurrency.count + self.disallowed.count

    @property
    def polite(self) -> bool:
        """Whether no host was ever asked otherwise than its policy allows."""
        return self.violations == 0

    def to_json(self) -> dict[str, Any]:
        """Plain values, with what is derived."""
        values = asdict(self) | {"violations": self.violations, "polite": self.polite}
        if self.coverage is not None:
            values["coverage"]["share"] = self.coverage.share
        return values

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """The verdict that `to_json` told of."""
        plain = {name: values[name] for name in cls.__dataclass_fields__}
        for name in ("gaps", "concurrency", "disallowed", "duplicates"):
            plain[name] = Finding(**values[name])
        if values["coverage"] is not None:
            known = Coverage.__dataclass_fields__
            plain["coverage"] = Coverage(**{name: values["coverage"][name] for name in known})
        return cls(**plain)

    def table(self) -> Table:
        """The verdict for people."""
        state = "polite" if self.polite else f"{self.violations} violations"
        table = Table(title=f"The referee's verdict: {state}", show_header=False)
        table.add_column(style="bold")
        table.add_column(justify="right")
        table.add_column()
        for row in self._rows():
            table.add_row(*row)
        return table

    def _rows(self) -> list[tuple[str, str, str]]:
        answers = ", ".join(f"{status}: {count}" for status, count in self.statuses.items())
        margin = self.tightest_margin_ms
        tightest = "" if margin is None else f"tightest: policy {margin:+.3f} ms"
        rows = [
            ("requests", f"{self.requests}", f"{self.hosts} hosts in {self.duration_s:.1f} s"),
            ("answers", "", answers),
            ("gaps under policy", f"{self.gaps.count}", _example(self.gaps) or tightest),
            ("concurrency over policy", f"{self.concurrency.count}", _example(self.concurrency)),
            ("disallowed", f"{self.disallowed.count}", _example(self.disallowed)),
            ("duplicates", f"{self.duplicates.count}", _example(self.duplicates)),
            ("retries after faults", f"{self.retries}", ""),
            ("trap pages", f"{self.traps}", ""),
        ]
        if self.coverage is not None:
            rows.append(_coverage_row(self.coverage))
        return rows


def _example(finding: Finding) -> str:
    if not finding.first:
        return ""
    parts = (
        f"{name} {value:.3f}" if isinstance(value, float) else f"{name} {value}"
        for name, value in finding.first[0].items()
    )
    return "first: " + ", ".join(parts)


def _coverage_row(coverage: Coverage) -> tuple[str, str, str]:
    missing = f", first missing: {coverage.missing[0]}" if coverage.missing else ""
    found = f"{coverage.answered} of {coverage.expected}{missing}"
    return "coverage", f"{coverage.share:.2%}", found
