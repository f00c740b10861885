"""Words and letters that multiply a number: K, M, B, T, Mio., lakh, and those of other scripts.

Some mean different things in different languages (an English billion is a German milliard); those
are read only where the source declares its language.
"""

from __future__ import annotations

import re
from functools import lru_cache

from skitter.extract.cleaned import Doubt
from skitter.extract.vocabulary import bounded, escaped, longest_first, words

CHINESE_TRILLION = "\u5146"  # in Japan and Korea a million millions, in China a million as well


@lru_cache(maxsize=1)
def _powers() -> dict[str, int]:
    table = words("magnitudes")["powers"]
    return {word: power for power, listed in table.items() for word in listed.split()}


def power_of_ten(word: str, *, glued: bool, languages: tuple[str, ...]) -> int:
    """What a word multiplies by; raises Doubt where it may mean two things.

    A single small letter counts only right behind its number.
    """
    if word in _powers():
        if len(word) == 1 and word.islower() and not glued:
            raise Doubt(f"the {word} beside the number may be a unit")
        return _powers()[word]
    if word == CHINESE_TRILLION:
        if "zh" in languages:
            raise Doubt(f"{word} means a million or a million millions in Chinese")
        return 12
    return _by_scale(word, languages)


def _by_scale(word: str, languages: tuple[str, ...]) -> int:
    short, long = words("magnitudes")["by_scale"][word.lower()]
    if not languages:
        raise Doubt(f"{word} is 10^{short} in English and 10^{long} elsewhere: declare the locale")
    is_short = not set(words("magnitudes")["short_scale"].split()).isdisjoint(languages)
    return int(short if is_short else long)


def is_positional(word: str) -> bool:
    """Whether a smaller part may follow, as in Chinese, Japanese and Korean."""
    return re.fullmatch(r"[\u3400-\u9fff\uac00-\ud7af]+", word) is not None


@lru_cache(maxsize=1)
def magnitude_pattern() -> str:
    """A regular expression for all of them."""
    inside = [word for word in _powers() if not is_positional(word)]
    signs = [CHINESE_TRILLION, *(word for word in _powers() if is_positional(word))]
    scale = words("magnitudes")["by_scale"]
    return "|".join(
        [bounded(escaped(inside)), f"(?i:{bounded(scale)})", longest_first(escaped(signs))]
    )
