"""Texts as they were meant: whitespace, entities left over, and encodings read wrongly.

`CafÃ©` is UTF-8 that someone read as Latin-1; ftfy knows how to undo that, and is loaded only for
texts that look like it.
"""

from __future__ import annotations

import html
import re

from skitter.extract.characters import visible
from skitter.extract.cleaned import Cleaned, Refused

LONGEST_TEXT = 1 << 20
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
# What UTF-8's lead bytes become in the usual wrong encodings, and the mark of lost characters.
_SUSPECT = re.compile("[ÃÂâÅÄÐÑØÙÎÏàð\u00d7\ufffd]")
_LINE_ENDS = re.compile(r"[ \t]*(?:\r\n|\r|\n|\x85|\u2028|\u2029)[ \t\r\n\x85\u2028\u2029]*")


def clean_text(raw: str, *, lines: bool = False) -> Cleaned[str] | Refused:
    """A text on one line, or on as many as it has with `lines`; refused if nothing is left."""
    if len(raw) > LONGEST_TEXT:
        return Refused(raw[:LONGEST_TEXT], f"it is longer than {LONGEST_TEXT} characters")
    text = repaired(raw)
    if lines:
        parts = (" ".join(visible(part).split()) for part in _LINE_ENDS.split(text))
        text = "\n".join(part for part in parts if part)
    else:
        text = " ".join(visible(text).split())
    return Cleaned(text, raw) if text else Refused(raw, "it is empty")


def repaired(text: str) -> str:
    """A text with left-over entities read, and wrong encodings undone where that is certain."""
    if "&" in text and _ENTITY.search(text):
        text = html.unescape(text)
    if text.isascii() or not _SUSPECT.search(text):
        return text.replace("\0", "")
    from ftfy import TextFixerConfig, fix_encoding  # noqa: PLC0415 - loaded where it is needed

    # Only whole decodings: to restore single bytes or quotes is to guess.
    config = TextFixerConfig(restore_byte_a0=True, replace_lossy_sequences=False)
    return fix_encoding(text, config).replace("\0", "")
