"""Secrets out of whatever is shown: logs, settings, error messages.

Text is searched for passwords inside URLs, secret query parameters, `password=…` and header
lines; structured values are judged by their key first. Masking too much is a nuisance,
masking too little is a leak, so doubt ends in `***`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

MASK = "***"

_WORDS = r"passwords?|passwd|passphrase|token|secrets?|api[_-]?key"
_HEADERS = r"(?:proxy-)?authorization|(?:set-)?cookies?"

_SECRET_KEY = re.compile(rf"(?:^|[_.-])(?:{_WORDS}|{_HEADERS})$", re.IGNORECASE)
_URL_PASSWORD = re.compile(r"(?<=://)([^\s/?#@:]*):([^\s/?#]*)@")
# The same without a scheme, as proxies are often written: `user:password@host:port`.
_BARE_PASSWORD = re.compile(r"(?<![^\s\"'=,(\[])([^\s/?#@:,\"']+):([^\s/@\"']+)@(?=[\w.-]+:\d)")
# The value may be quoted, as in JSON, in a dict's repr, or in a shell line.
_ASSIGNED = re.compile(
    rf"((?:{_WORDS})[\"']?\s*[=:]\s*)(\"[^\"]*\"|'[^']*'|[^\s&,;\"'}}\])]+)", re.IGNORECASE
)
# A header's value has spaces in it (`Bearer …`, `a=1; b=2`): it ends with its quote or line.
_HEADER = re.compile(
    rf"((?:{_HEADERS})[\"']?\s*[=:]\s*)(\"[^\"]*\"|'[^']*'|[^\r\n\"']+)", re.IGNORECASE
)

_API_KEY = re.compile(r"\bsk_([a-z0-9]{1,16})_[A-Za-z0-9_-]{43}")


def mask_text(text: str) -> str:
    """The same text with every secret that it shows replaced by `***`."""
    if "sk_" in text:
        text = _API_KEY.sub(rf"sk_\1_{MASK}", text)
    if "://" in text:
        text = _URL_PASSWORD.sub(rf"\1:{MASK}@", text)
    if "@" in text:
        text = _BARE_PASSWORD.sub(rf"\1:{MASK}@", text)
    if "=" in text or ":" in text:
        text = _HEADER.sub(_keep_quotes, _ASSIGNED.sub(_keep_quotes, text))
    return text


def _keep_quotes(match: re.Match[str]) -> str:
    """JSON and reprs stay readable to machines."""
    name, value = match.groups()
    quote = value[0] if value[0] in "\"'" else ""
    return f"{name}{quote}{MASK}{quote}"


def is_secret(key: str) -> bool:
    """Whether a value under this key is a secret by its name alone (`x-api-key`, `db_password`)."""
    return _SECRET_KEY.search(key) is not None


def mask_value(value: Any, key: str = "") -> Any:
    """A value fit to be shown; what is neither text, number nor container becomes its repr."""
    if value is None or isinstance(value, bool):
        return value
    if is_secret(key):
        return MASK
    if isinstance(value, str):
        return mask_text(value)
    if isinstance(value, int | float):
        return value
    return _mask_object(value)


def _mask_object(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: mask_value(item, str(name)) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [mask_value(item) for item in value]
    if isinstance(value, bytes):
        return mask_text(value.decode("utf-8", "backslashreplace"))
    return mask_text(repr(value) if isinstance(value, BaseException) else str(value))
