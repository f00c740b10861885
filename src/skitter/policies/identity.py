"""Who a request says it is: by default the crawler's own name, otherwise one of several sets.

A set is a user agent with the headers that belong to it, in their order, for half of one browser
and half of another is no identity. Which set a request carries is a function of what is asked, so
all workers agree without a word; by rendezvous hashing, so a set that is added or taken away
changes little. robots.txt is read under the robots user agent whatever is chosen here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from skitter.errors import BadIdentities
from skitter.settings import Settings

MAX_SETS = 1000
MAX_HEADERS = 50
MAX_FILE_BYTES = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_VALUE = re.compile(r"[\x21-\x7e][\x20-\x7e]{0,2000}")
# They belong to a request or a connection, not to a browser.
_OTHERS = frozenset(
    {"host", "connection", "content-length", "content-type", "transfer-encoding", "te", "upgrade"}
    | {"expect", "cookie", "authorization", "proxy-authorization"}
)


@dataclass(frozen=True, slots=True)
class Identity:
    """A user agent and the headers that belong to it, in order."""

    user_agent: str
    headers: tuple[tuple[str, str], ...] = ()

    def dress(self, own: Mapping[str, Any]) -> dict[str, Any]:
        """The headers of a request: the set's, in its order, unless the request has its own."""
        mine = {name.lower(): name for name in own}
        dressed: dict[str, Any] = {}
        for name, value in (*self.headers, ("User-Agent", self.user_agent)):
            if name not in dressed:
                dressed[name] = own[mine.pop(name.lower())] if name.lower() in mine else value
        return dressed | {name: own[name] for name in mine.values()}


class Identities:
    """The sets to choose from. sticky: a host always sees the same one, by each egress."""

    def __init__(self, sets: Sequence[Identity], *, sticky: bool = False) -> None:
        if not sets:
            raise BadIdentities(source="the list", problem="it is empty")
        self.sets = tuple(sets)
        self.sticky = sticky
        self._salts = [_digest(f"{one.user_agent}\0{one.headers}") for one in self.sets]

    @classmethod
    def of(cls, settings: Settings) -> Identities:
        """Those that the settings describe: the crawler's own name, or the sets of a file."""
        file = settings.identity.file
        sets = read_sets(file) if file else [Identity(settings.fetch.user_agent)]
        return cls(sets, sticky=settings.identity.sticky)

    def pick(self, *, host: str, url: str, attempts: int = 0, egress: str = "direct") -> Identity:
        """The set for a request; the same in every process. Another attempt may have another."""
        if len(self.sets) == 1:
            return self.sets[0]
        key = f"{host} {egress}" if self.sticky else f"{url} {attempts}"
        data = key.encode("utf-8", "replace")
        best = max(range(len(self.sets)), key=lambda i: _weight(self._salts[i], data))
        return self.sets[best]


def robots_agent(settings: Settings) -> str:
    """The name that is looked for in robots.txt."""
    return settings.robots.user_agent or settings.fetch.user_agent


def read_sets(path: Path) -> list[Identity]:
    """The sets of a YAML or JSON file: a list of texts, or of user_agent with headers."""
    import yaml  # noqa: PLC0415 - most processes read no such file

    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise BadIdentities(source=path, problem=f"it has more than {MAX_FILE_BYTES} bytes")
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise BadIdentities(source=path, problem=str(error)) from error
    return parse_sets(values, source=str(path))


def parse_sets(values: Any, *, source: str = "the list") -> list[Identity]:
    """The sets of plain values; an error says which one is wrong."""
    if not isinstance(values, list) or not 0 < len(values) <= MAX_SETS:
        raise BadIdentities(source=source, problem=f"it should list 1 to {MAX_SETS} sets")
    return [_parse_set(value, f"{source}, set {n}") for n, value in enumerate(values, start=1)]


def _parse_set(value: Any, source: str) -> Identity:
    if isinstance(value, str):
        value = {"user_agent": value}
    if not isinstance(value, dict) or not set(value) <= {"user_agent", "headers"}:
        raise BadIdentities(source=source, problem="it should have user_agent and headers")
    agent, headers = value.get("user_agent"), value.get("headers") or {}
    if not isinstance(agent, str) or not _VALUE.fullmatch(agent):
        raise BadIdentities(source=source, problem="its user_agent is no plain text")
    if not isinstance(headers, dict) or len(headers) > MAX_HEADERS:
        problem = f"its headers should be up to {MAX_HEADERS} names with values"
        raise BadIdentities(source=source, problem=problem)
    return Identity(agent, tuple(_parse_header(*pair, agent, source) for pair in headers.items()))


def _parse_header(name: Any, value: Any, agent: str, source: str) -> tuple[str, str]:
    value = str(value) if isinstance(value, int | float) else value
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name.lower() in _OTHERS:
        raise BadIdentities(source=source, problem=f"{name!r} is no header of an identity")
    if name.lower() == "user-agent":  # it may be there to say where in the order it stands
        return "User-Agent", agent
    if not isinstance(value, str) or not _VALUE.fullmatch(value):
        raise BadIdentities(source=source, problem=f"the value of {name} is no plain text")
    return name, value


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()


def _weight(salt: bytes, data: bytes) -> bytes:
    return blake2b(data, key=salt, digest_size=8).digest()
