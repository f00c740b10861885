"""A text → the one number in it, and what stands beside it: sign, currency, magnitude, percent.

The text is cut into tokens; from the number outwards, everything that belongs to it is taken, and
what is left over on either side is handed back for the caller to judge. Two numbers are refused:
a range, an old price beside a new one and a count beside a price all look alike.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise

from skitter.extract.characters import plain
from skitter.extract.cleaned import Doubt
from skitter.extract.currencies import decimals, mark_pattern, resolve_currency
from skitter.extract.decimals import EXACT, read_decimal
from skitter.extract.locale import Locale
from skitter.extract.magnitudes import is_positional, magnitude_pattern, power_of_ten

_NONE = re.compile(r"[-_.~·• ]+|(?i:n\.?/?a\.?|n/?d|s/?o|nan|null|none|tba|tbd|k\.?a\.?)")
DOWN = "▼▾↓⬇🔻🔽⇩"
UP = "▲▴↑⬆🔺🔼⇧△"
_NUMBER = (
    r"(?:\d+(?:[.,'\u066b\u066c]\d+|[ ]\d{3}(?!\d))*|(?<![\w.,])[.,]\d+)"
    r"(?:[eE][+-]?\d{1,2}(?![\w.,]))?(?:[.,]-+(?!\d))?"
)


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str
    start: int
    end: int


@dataclass(slots=True)
class Reading:
    """The number of a text. left and right are what does not belong to it."""

    value: Decimal
    mark: str = ""
    currency: str = ""
    percent: bool = False
    sign: str = ""
    sign_apart: bool = False
    """Whether a space stands behind the sign, which may then be a dash."""
    parentheses: bool = False
    arrow: str = ""
    left: str = ""
    right: str = ""
    glued: bool = False
    """Whether what is left over touches the number, as in 50p."""


@dataclass(slots=True)
class _Beside:
    """What was found on the way outwards from the number."""

    marks: list[Token] = field(default_factory=list)
    signs: list[Token] = field(default_factory=list)
    arrows: list[Token] = field(default_factory=list)
    percents: list[Token] = field(default_factory=list)
    magnitudes: list[Token] = field(default_factory=list)
    parens: list[Token] = field(default_factory=list)


def read(raw: str, locale: Locale) -> Reading:
    """The only number of a text; raises Doubt."""
    text = plain(raw)
    if _NONE.fullmatch(text):
        raise Doubt("it says that there is none")
    if any(unicodedata.category(char) == "No" for char in text):
        raise Doubt("it holds raised digits or fractions")
    tokens = [token for token in _tokens(text) if token.kind != "space"]
    first, last = _number_at(tokens)
    return _interpret(text, tokens, (first, last), locale)


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    kinds = {
        "mark": mark_pattern(),
        "magnitude": magnitude_pattern(),
        "number": _NUMBER,
        "space": r"\s+",
        "sign": r"[+-]+",
        "arrow": f"[{DOWN}{UP}]\ufe0f?",
        "percent": "%",
        "open": r"\(",
        "close": r"\)",
        "word": r"[^\W\d_]+",
        "other": r".",
    }
    return re.compile("|".join(f"(?P<{kind}>{form})" for kind, form in kinds.items()), re.DOTALL)


def _tokens(text: str) -> list[Token]:
    return [
        Token(match.lastgroup or "", match.group(), match.start(), match.end())
        for match in _pattern().finditer(text)
    ]


def _number_at(tokens: Sequence[Token]) -> tuple[int, int]:
    """The first and last token of the only number, which may be written in parts."""
    places = [at for at, token in enumerate(tokens) if token.kind == "number"]
    if not places:
        raise Doubt("it holds no number")
    first, last = places[0], places[-1]
    if first != last and not _is_one(tokens[first : last + 1]):
        found = " and ".join(tokens[at].text for at in places[:3])
        raise Doubt(f"it holds several numbers: {found}")
    return first, last


def _is_one(tokens: Sequence[Token]) -> bool:
    """Whether these are parts of one number: 12€50, or 1兆2,345億."""
    kinds = [token.kind for token in tokens]
    if kinds == ["number", "mark", "number"]:
        return tokens[0].text.isdigit() and bool(re.fullmatch(r"\d\d", tokens[2].text))
    if any(one.end != two.start for one, two in pairwise(tokens)):
        return False
    return all(
        token.kind == "number" if at % 2 == 0 else is_positional(token.text)
        for at, token in enumerate(tokens)
    )


def _interpret(text: str, tokens: Sequence[Token], at: tuple[int, int], locale: Locale) -> Reading:
    first, last = at
    beside = _Beside()
    begin = _walk(tokens, range(first - 1, -1, -1), beside, "open")
    end = _walk(tokens, range(last + 1, len(tokens)), beside, "close")
    start = tokens[begin + 1].start
    stop = tokens[end - 1].end
    inner = [token for token in tokens[first : last + 1] if token.kind == "mark"]
    mark = _only_mark([*beside.marks, *inner])
    currency = resolve_currency(mark, locale.currency)
    reading = Reading(
        _value(tokens[first : last + 1], beside, currency, locale),
        mark=mark,
        currency=currency,
        percent=bool(beside.percents),
        arrow=beside.arrows[0].text[0] if beside.arrows else "",
        left=text[:start].strip(),
        right=text[stop:].strip(),
        glued=_touches(text[start - 1 : start], tokens[begin + 1])
        or _touches(text[stop : stop + 1], tokens[end - 1]),
    )
    _place_signs(reading, beside, tokens[first], text)
    return reading


def _touches(char: str, token: Token) -> bool:
    """Whether a letter stands right beside. Scripts without spaces may put one beside a mark."""
    is_unspaced = re.match(r"[\u0e00-\u0e7f\u3040-\u9fff\uac00-\ud7af]", char) is not None
    return (char.isalpha() and not (is_unspaced and token.kind == "mark")) or char == "\u00a2"


def _walk(tokens: Sequence[Token], way: range, beside: _Beside, paren: str) -> int:
    """Take what belongs to the number, outwards; where the first token stands that does not."""
    kinds: dict[str, list[Token]] = {
        "mark": beside.marks,
        "sign": beside.signs,
        "arrow": beside.arrows,
        paren: beside.parens,
    }
    if paren == "close":
        kinds |= {"percent": beside.percents, "magnitude": beside.magnitudes}
    for at in way:
        taken = kinds.get(tokens[at].kind)
        if taken is None or len(taken) > 1:
            return at
        taken.append(tokens[at])
    return way.stop


def _only_mark(marks: Sequence[Token]) -> str:
    """The currency's mark. A code beside its sign is one mark: $12 USD, CHF 12.- Fr."""
    texts = list(dict.fromkeys(token.text for token in marks))
    if len(texts) < 2:
        return texts[0] if texts else ""
    codes = [text for text in texts if len(text) == 3 and text.isascii() and text.isupper()]
    others = [text for text in texts if text not in codes]
    if len(codes) == 1 and all(resolve_currency(mark, codes[0]) == codes[0] for mark in others):
        return codes[0]
    raise Doubt(f"it holds several currencies: {' and '.join(texts)}")


def _value(tokens: Sequence[Token], beside: _Beside, currency: str, locale: Locale) -> Decimal:
    numbers = [token for token in tokens if token.kind == "number"]
    if len(tokens) == 3 and tokens[1].kind == "mark":
        return Decimal(f"{tokens[0].text}.{tokens[2].text}")
    powers = [token for token in tokens if token.kind == "magnitude"] + beside.magnitudes[:1]
    if len(beside.magnitudes) > 1:
        raise Doubt(f"it multiplies twice: {' '.join(word.text for word in beside.magnitudes)}")
    total, least = Decimal(0), 99
    for at, number in enumerate(numbers):
        amount = _decimal(number.text, currency, locale)
        power = 0
        if at < len(powers):
            glued = powers[at].start == number.end
            power = power_of_ten(powers[at].text, glued=glued, languages=locale.languages)
        if power >= least:
            raise Doubt("the parts of its number do not become smaller")
        total, least = EXACT.add(total, EXACT.multiply(amount, Decimal(10**power))), power
    return total


def _decimal(text: str, currency: str, locale: Locale) -> Decimal:
    digits, _, exponent = re.sub(r"[.,]-+$", "", text).lower().partition("e")
    value = read_decimal(digits, declared=locale.decimal, places=decimals(currency))
    return value.scaleb(int(exponent)) if exponent else value


def _place_signs(reading: Reading, beside: _Beside, number: Token, text: str) -> None:
    """Which sign the number has. One inside parentheses makes them mere decoration."""
    kinds = [token.kind for token in beside.parens]
    if kinds and kinds != ["open", "close"]:
        if "open" in kinds:
            raise Doubt("its parenthesis is not closed before other words")
        kinds = []  # it closes one that was opened among the words before
    texts = {token.text for token in beside.signs}
    if len(beside.signs) > 1 or (texts and texts.isdisjoint("+-")):
        raise Doubt(f"it has several signs: {' '.join(sorted(texts))}")
    sign = beside.signs[0] if beside.signs else None
    if sign is not None:
        reading.sign, reading.sign_apart = sign.text, text[sign.end : sign.end + 1] == " "
    inside = sign is not None and bool(kinds) and beside.parens[0].end <= sign.start < number.start
    reading.parentheses = bool(kinds) and not inside
