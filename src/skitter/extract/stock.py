"""Whether a thing can be had: schema.org's words, or what shops write, in a dozen languages.

Phrases for "no" are looked for first and taken out, since most hold one for "yes" (`indisponible`).
A text that says both, or neither, is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from skitter.extract.characters import plain
from skitter.extract.cleaned import Doubt, refusing
from skitter.extract.vocabulary import bounded, longest_first, words

State = Literal["in_stock", "out_of_stock", "preorder", "backorder", "discontinued"]

_SCHEMA: dict[str, State] = {
    "instock": "in_stock", "instoreonly": "in_stock", "onlineonly": "in_stock",
    "limitedavailability": "in_stock", "outofstock": "out_of_stock", "soldout": "out_of_stock",
    "preorder": "preorder", "presale": "preorder", "backorder": "backorder",
    "madetoorder": "backorder", "discontinued": "discontinued", "reserved": "out_of_stock",
}  # fmt: skip
_COUNT = re.compile(r"\d{1,6}")
_UNSPACED = re.compile(r"[\u3040-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Stock:
    """quantity is how many are left, where the page says exactly that."""

    state: State
    quantity: int | None = None

    @property
    def available(self) -> bool:
        """Whether it can be had now."""
        return self.state == "in_stock"


@refusing
def clean_stock(raw: str) -> Stock:
    """An availability: `https://schema.org/InStock`, `Rupture de stock`, `Only 3 left`."""
    text = plain(raw)
    word = re.sub(r"[^a-z]", "", text.rpartition("/")[2].lower())
    if word in _SCHEMA and re.fullmatch(r"(?:https?://schema\.org/)?[A-Za-z_ ]+", text):
        return Stock(_SCHEMA[word])
    states = _states(text)
    quantity = _quantity(text)
    if not states and quantity is not None and _left().search(text):
        states = {"in_stock"}
    if len(states) != 1:
        raise Doubt("it says both yes and no" if states else "it says neither yes nor no")
    return _consistent(states.pop(), quantity)


def _consistent(state: State, quantity: int | None) -> Stock:
    if state == "in_stock" and quantity == 0:
        return Stock("out_of_stock", 0)
    if state == "out_of_stock" and quantity:
        raise Doubt(f"it says that there is none, and {quantity}")
    return Stock(state, quantity if state in ("in_stock", "out_of_stock") else None)


def _states(text: str) -> set[State]:
    found: set[State] = set()
    for state, pattern in _patterns().items():
        text, count = pattern.subn(" ", text)
        if count:
            found.add(state)
    return found


def _quantity(text: str) -> int | None:
    """How many there are, if nothing but that stands there: not a day, a week, or "over 10"."""
    for pattern in (*_patterns().values(), _pieces()):
        text = pattern.sub(" ", text)
    count = _COUNT.fullmatch(text.strip(" .:;,!()[]-"))
    return int(count.group()) if count else None


@lru_cache(maxsize=1)
def _patterns() -> dict[State, re.Pattern[str]]:
    """In the order in which they are looked for.

    A phrase begins where a word does, and may go on; scripts without spaces have no such places.
    """
    return {
        state: re.compile(rf"(?i)(?<![^\W\d_])(?:{'|'.join(phrases)})|(?:{_unspaced(phrases)})")
        for state, phrases in words("stock")["phrases"].items()
    }


def _unspaced(phrases: list[str]) -> str:
    return "|".join(phrase for phrase in phrases if _UNSPACED.match(phrase)) or r"(?!)"


@lru_cache(maxsize=1)
def _pieces() -> re.Pattern[str]:
    known = words("stock")
    return re.compile(f"(?i){bounded(known['pieces'])}|{longest_first(known['pieces_unbounded'])}")


@lru_cache(maxsize=1)
def _left() -> re.Pattern[str]:
    known = words("stock")
    return re.compile(f"(?i){bounded(known['left'])}|{longest_first(known['left_unbounded'])}")
