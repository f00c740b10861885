"""The words that cleaning knows, from the YAML files in `words/`, each read when first needed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from typing import Any

import yaml


@lru_cache(maxsize=16)
def words(name: str) -> dict[str, Any]:
    """The content of `words/NAME.yaml`."""
    text = files("skitter.extract").joinpath("words", f"{name}.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def bounded(patterns: Iterable[str]) -> str:
    """A regular expression for any of these, the longest first, none inside a longer word."""
    return rf"(?<![^\W\d_])(?:{longest_first(patterns)})(?![^\W\d_])"


def longest_first(patterns: Iterable[str]) -> str:
    """The same anywhere."""
    return "|".join(sorted(patterns, key=lambda pattern: (-len(pattern), pattern)))


def escaped(texts: Iterable[str]) -> list[str]:
    """Texts as patterns that match them alone."""
    return [re.escape(text) for text in texts]
