"""Currencies: ISO 4217 codes, their decimals, and the marks that stand for them on pages.

A mark that several currencies share, such as `$` or `kr`, names none of them by itself: it is
resolved by the currency that the source declares, or not at all.
"""

from __future__ import annotations

from functools import lru_cache

from skitter.extract.vocabulary import bounded, escaped, longest_first, words


@lru_cache(maxsize=1)
def codes() -> frozenset[str]:
    """The codes in use."""
    return frozenset(words("currencies")["codes"].split())


def candidates(mark: str) -> tuple[str, ...]:
    """The currencies that a mark or a code may mean."""
    if mark in codes():
        return (mark,)
    found = _marks().get(mark)
    return tuple((_folded().get(mark.lower(), "") if found is None else found).split())


def resolve_currency(mark: str, declared: str = "") -> str:
    """The currency of a mark: the only one, or the declared one if it is among them, or none."""
    found = candidates(mark) if mark else ()
    if not mark or declared in found:
        return declared
    return found[0] if len(found) == 1 else ""


def decimals(code: str) -> int | None:
    """How many decimals a currency has; None if it is not known which one it is."""
    if code not in codes():
        return None
    if code in words("currencies")["no_decimals"].split():
        return 0
    return 3 if code in words("currencies")["three_decimals"].split() else 2


@lru_cache(maxsize=1)
def _marks() -> dict[str, str]:
    return {mark: found or "" for mark, found in words("currencies")["marks"].items()}


@lru_cache(maxsize=1)
def _any_case() -> frozenset[str]:
    return frozenset(words("currencies")["any_case"].split())


@lru_cache(maxsize=1)
def _folded() -> dict[str, str]:
    marks = _marks().items()
    return {mark.lower(): found for mark, found in marks if mark.lower() in _any_case()}


@lru_cache(maxsize=1)
def mark_pattern() -> str:
    """A regular expression for every mark and code, the longest first.

    A mark that begins or ends with a letter is no part of a longer word. Codes are written in
    capitals; `try` and `all` are words.
    """
    unbounded = words("currencies")["unbounded"].split()
    lettered = [mark for mark in _marks() if mark[0].isalpha() or mark[-1].isalpha()]
    inside = [mark for mark in lettered if mark not in unbounded]
    return "|".join(
        [
            bounded(escaped(mark for mark in inside if mark.lower() not in _any_case())),
            f"(?i:{bounded(escaped(_any_case()))})",
            bounded(codes()),
            longest_first(escaped(mark for mark in _marks() if mark not in inside)),
        ]
    )
