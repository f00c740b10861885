"""The kinds of values that settings hold, with their checks and their kind error messages."""

from __future__ import annotations

import re
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, ByteSize, Field
from pydantic_settings import NoDecode

from skitter.masking import mask_text

_SERVER_SCHEMES = ("redis", "rediss", "unix")


class MaskedUrl(str):
    """A URL that may hold a password: an ordinary string whose repr does not show it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(mask_text(str(self)))


def _server_url(text: str) -> MaskedUrl:
    parts = urlsplit(text)
    if parts.scheme not in _SERVER_SCHEMES:
        raise ValueError("it should start with redis://, rediss:// or unix://")
    if parts.scheme == "unix" and not parts.path:
        raise ValueError("it should name a socket: unix:///path/of/the.sock")
    if parts.scheme != "unix" and not parts.hostname:
        raise ValueError("it names no host: redis://host:6379/0")
    _ = parts.port  # raises ValueError when it is no port number
    return MaskedUrl(text)


def _split(value: Any) -> Any:
    """Lists are written with commas or spaces where only text can be: environment and flags."""
    return (
        [part for part in re.split(r"[,\s]+", value) if part] if isinstance(value, str) else value
    )


def _resolve_rule(text: str) -> str:
    from skitter.resolve import BadRule, parse_rule  # noqa: PLC0415 - it brings in aiohttp

    try:
        parse_rule(text)
    except BadRule as error:
        raise ValueError(f"{error.summary}. {error.hint}") from error
    return text


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


Lowered = BeforeValidator(_lower)
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
SecondsOrZero = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Bytes = Annotated[ByteSize, Field(gt=0)]
ServerUrl = Annotated[str, AfterValidator(_server_url)]
ResolveRules = Annotated[
    tuple[Annotated[str, AfterValidator(_resolve_rule)], ...], NoDecode, BeforeValidator(_split)
]
