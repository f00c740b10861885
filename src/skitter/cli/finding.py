"""What the doctor found of one thing: how it is, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["ok", "note", "warning", "problem"]


@dataclass(frozen=True)
class Finding:
    """A note needs nothing; a warning may hurt later; with a problem, crawls do not run."""

    subject: str
    verdict: Verdict
    told: str
    fix: str = ""


def ok(subject: str, told: str) -> Finding:
    return Finding(subject, "ok", told)


def note(subject: str, told: str, fix: str = "") -> Finding:
    return Finding(subject, "note", told, fix)


def warning(subject: str, told: str, fix: str) -> Finding:
    return Finding(subject, "warning", told, fix)


def problem(subject: str, told: str, fix: str = "") -> Finding:
    return Finding(subject, "problem", told, fix)


def of_error(subject: str, error: Exception) -> Finding:
    """A known error has its hint; any other one says at least what it is."""
    told, _, fix = (str(error) or type(error).__name__).partition("\n")
    return problem(subject, told, fix)
