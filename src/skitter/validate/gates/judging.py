"""A run's figures against its gates and against past runs: what does not pass, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from skitter.validate.gates.figures import RunFigures
from skitter.validate.gates.spec import Gates


@dataclass(frozen=True, slots=True)
class GateFailure:
    """A gate that a run did not pass: `coverage.price`, why, what was found, what was asked for."""

    gate: str
    reason: str
    measured: float | None
    bound: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def judge(gates: Gates, figures: RunFigures, past: Sequence[RunFigures]) -> list[GateFailure]:
    """What a run does not pass; nothing: it is good.

    past are good runs, the latest last. Where there are none, what is compared with them passes.
    """
    past = past[-gates.past_runs :]
    failures = [*_count(gates, figures, past), *_quarantined(gates, figures)]
    if figures.items:
        failures += _coverage(gates, figures)
        failures += _duplicates(gates, figures)
        failures += _drift(gates, figures, past)
        failures += _age(gates, figures)
    return failures


def _count(gates: Gates, figures: RunFigures, past: Sequence[RunFigures]) -> Iterator[GateFailure]:
    if figures.items < gates.least_items:
        reason = f"there are {figures.items} items, and {gates.least_items} are the least"
        yield GateFailure("least_items", reason, figures.items, gates.least_items)
    if gates.most_drop is None or not past:
        return
    usual = median(run.items for run in past)
    if figures.items < usual * (1 - gates.most_drop):
        drop = 1 - figures.items / usual
        reason = f"there are {figures.items} items, {drop:.1%} fewer than the usual {usual:g}"
        yield GateFailure(
            "most_drop", f"{reason}; {gates.most_drop:.1%} is the most", drop, gates.most_drop
        )


def _quarantined(gates: Gates, figures: RunFigures) -> Iterator[GateFailure]:
    total = figures.items + figures.quarantined
    share = figures.quarantined / total if total else 0.0
    if gates.most_quarantined is not None and share > gates.most_quarantined:
        most = gates.most_quarantined
        held = f"{figures.quarantined} of {total} are in quarantine"
        reason = f"{held} ({share:.1%}; {most:.1%} is the most)"
        yield GateFailure("most_quarantined", reason, share, most)


def _coverage(gates: Gates, figures: RunFigures) -> Iterator[GateFailure]:
    for name, least in gates.coverage.items():
        filled = figures.filled.get(name, 0)
        share = filled / figures.items
        if share < least:
            have = f"{filled} of {figures.items} items have {name}"
            reason = f"{have} ({share:.1%}; {least:.1%} is the least)"
            yield GateFailure(f"coverage.{name}", reason, share, least)


def _duplicates(gates: Gates, figures: RunFigures) -> Iterator[GateFailure]:
    share = figures.repeated or 0.0
    if gates.duplicates and share > gates.duplicates.most:
        most, by = gates.duplicates.most, " and ".join(gates.duplicates.by)
        reason = f"{share:.1%} of the items repeat an earlier one by {by}; {most:.1%} is the most"
        yield GateFailure("duplicates", reason, share, most)


def _drift(gates: Gates, figures: RunFigures, past: Sequence[RunFigures]) -> Iterator[GateFailure]:
    for name, most in gates.drift.items():
        before = [run.medians[name] for run in past if name in run.medians]
        if not before:
            continue
        usual, now = median(before), figures.medians.get(name)
        drift = _relative(now, usual)
        if now is None:
            reason = f"no item has a number in {name}, and past runs had"
            yield GateFailure(f"drift.{name}", reason, None, most)
        elif drift is None or drift > most:
            off = "off" if drift is None else f"{drift:.1%} off"
            found = f"the median of {name} is {now:g}, {off} the usual {usual:g}"
            yield GateFailure(f"drift.{name}", f"{found}; {most:.1%} is the most", drift, most)


def _relative(now: float | None, usual: float) -> float | None:
    """How far it is off, as a share; None where there is no such share."""
    if now == usual:
        return 0.0
    return abs(now - usual) / abs(usual) if usual and now is not None else None


def _age(gates: Gates, figures: RunFigures) -> Iterator[GateFailure]:
    for name, most in gates.max_age_h.items():
        newest = figures.newest.get(name)
        if newest is None:
            yield GateFailure(f"max_age_h.{name}", f"no item has a time in {name}", None, most)
            continue
        hours = (figures.taken_at - newest).total_seconds() / 3600
        if hours > most:
            reason = f"the newest {name} is {hours:.1f} hours old; {most:g} is the most"
            yield GateFailure(f"max_age_h.{name}", reason, hours, most)
