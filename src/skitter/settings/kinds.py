"""The kinds of values that settings hold, with their checks and their kind error messages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, BeforeValidator, ByteSize, Field

from skitter.masking import mask_text

_SERVER_SCHEMES = ("redis", "rediss", "unix")
PROXY_SCHEMES = ("http", "https", "socks5", "socks5h")


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


def _sink_url(text: str) -> MaskedUrl:
    if not re.match(r"[a-z][a-z0-9+]*:.", text):
        raise ValueError("it should start with a scheme: sqlite:items.db")
    return MaskedUrl(text)


def _store_url(text: str) -> MaskedUrl:
    if not re.match(r"sqlite:.|postgres(ql)?://", text):
        raise ValueError("it should start with sqlite: or postgresql://")
    return MaskedUrl(text)


def proxy_url(text: str) -> MaskedUrl:
    """A proxy as `scheme://user:password@host:port`; without a scheme it is an HTTP proxy.

    Messages never quote the text: what is wrong may be the password.
    """
    parts = urlsplit(text if "://" in text else f"http://{text}")
    if parts.scheme not in PROXY_SCHEMES:
        raise ValueError(f"its scheme should be one of {', '.join(PROXY_SCHEMES)}")
    if not parts.hostname or re.search(r"\s", text):
        raise ValueError("it should read scheme://user:password@host:port, or host:port")
    if parts.path.strip("/") or parts.query or parts.fragment or not _port(parts):
        raise ValueError("it should end with host:port; write %2F %3F %23 %40 for / ? # @ before")
    return MaskedUrl(f"{parts.scheme}://{parts.netloc}")


def _port(parts: SplitResult) -> int:
    try:
        return parts.port or 0
    except ValueError:
        return 0


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is not a regular expression: {error}") from error
    return text


def _alone(value: Any) -> Any:
    """A text is a list of one: patterns may hold commas and spaces."""
    return [value] if isinstance(value, str) else value


def split(value: Any) -> Any:
    """Lists are written with commas or spaces where only text can be: environment and flags."""
    return (
        [part for part in re.split(r"[,\s]+", value) if part] if isinstance(value, str) else value
    )


def _split_urls(value: Any) -> Any:
    """URLs with spaces between them. One may hold commas, and a path spaces."""
    return re.split(r"\s+(?=[a-z][a-z0-9+]*:)", value.strip()) if isinstance(value, str) else value


def _resolve_rule(text: str) -> str:
    from skitter.resolve import BadRule, parse_rule  # noqa: PLC0415 - it brings in aiohttp

    try:
        parse_rule(text)
    except BadRule as error:
        raise ValueError(f"{error.summary}. {error.hint}") from error
    return text


def _attempts_rule(text: str) -> str:
    if not re.fullmatch(r"([a-z]+|[1-5][0-9]{2})=[1-9][0-9]{0,2}", text):
        raise ValueError(f"{text!r} is no reason with a number: callback=1 or 429=6")
    return text


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


Lowered = BeforeValidator(_lower)
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
SecondsOrZero = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Bytes = Annotated[ByteSize, Field(gt=0)]
ServerUrl = Annotated[str, AfterValidator(_server_url)]
StoreUrl = Annotated[str, AfterValidator(_store_url)]
SinkUrls = Annotated[
    tuple[Annotated[str, AfterValidator(_sink_url)], ...],
    BeforeValidator(_split_urls),
    Field(min_length=1),
]
ResolveRules = Annotated[
    tuple[Annotated[str, AfterValidator(_resolve_rule)], ...], BeforeValidator(split)
]
ProxyUrls = Annotated[tuple[Annotated[str, AfterValidator(proxy_url)], ...], BeforeValidator(split)]
Beginnings = Annotated[tuple[str, ...], BeforeValidator(split)]
Paths = Annotated[tuple[Path, ...], BeforeValidator(split)]
Patterns = Annotated[tuple[Annotated[str, AfterValidator(_pattern)], ...], BeforeValidator(_alone)]
Statuses = Annotated[tuple[Annotated[int, Field(ge=100, le=599)], ...], BeforeValidator(split)]
ReasonAttempts = Annotated[
    tuple[Annotated[str, AfterValidator(_attempts_rule)], ...], BeforeValidator(split)
]
