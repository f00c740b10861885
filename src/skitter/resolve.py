"""Names to addresses, with rules that come before DNS, like curl's --resolve and --connect-to.

A rule is `pattern[:port]=address[:port]`: `*.lab=127.0.0.1:8080` leads every name under lab to
one port, `shop.example=127.0.0.1` leads one name elsewhere and keeps the port. `*` stands for
anything, dots too. The first rule that fits wins; an address may be a name, which is then looked
up; IPv6 addresses stand in brackets. The URL and the Host header stay as they are.
"""

from __future__ import annotations

import asyncio
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING

from aiohttp.abc import AbstractResolver, ResolveResult

from skitter.errors import SkitterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

THREADS = 64
_PATTERN = re.compile(r"(?P<host>\*|\[[0-9a-f:.]+\]|[a-z0-9_.*-]+)(?::(?P<port>\d+))?")
_ADDRESS = re.compile(r"(?P<host>\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::(?P<port>\d+))?")


class BadRule(SkitterError, ValueError):
    """The name resolution rule {rule!r} cannot be used: {reason}

    A rule reads pattern[:port]=address[:port], such as *.lab=127.0.0.1:8080.
    """


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; without a port of its own it fits every port, or keeps the one asked for."""

    pattern: str
    pattern_port: int | None
    address: str
    address_port: int | None

    def fits(self, host: str, port: int) -> bool:
        """Whether the rule is about this host and port."""
        return self.pattern_port in (None, port) and fnmatchcase(host, self.pattern)


def parse_rule(text: str) -> Rule:
    """A rule from its text."""
    left, equals, right = text.strip().lower().partition("=")
    if not equals:
        raise BadRule(rule=text, reason="it has no =")
    pattern = _PATTERN.fullmatch(left.strip())
    if pattern is None:
        raise BadRule(rule=text, reason=f"{left.strip()!r} is not a host pattern")
    address = _ADDRESS.fullmatch(right.strip())
    if address is None:
        raise BadRule(rule=text, reason=f"{right.strip()!r} is not an address")
    return Rule(
        pattern=pattern["host"].strip("[]"),
        pattern_port=_port(pattern["port"], text),
        address=address["host"].strip("[]"),
        address_port=_port(address["port"], text),
    )


def parse_rules(texts: Iterable[str]) -> tuple[Rule, ...]:
    """Rules from their texts, in the order in which they are tried."""
    return tuple(parse_rule(text) for text in texts)


def resolve(rules: Sequence[Rule], host: str, port: int) -> tuple[str, int]:
    """Where to connect for a host and port; the same, if no rule fits."""
    name = host.lower().rstrip(".")
    for rule in rules:
        if rule.fits(name, port):
            return rule.address, rule.address_port or port
    return host, port


class SystemResolver(AbstractResolver):
    """The system's resolver, in threads of its own.

    A name whose servers are silent takes many seconds. A loop has few threads for names, and uses
    them for other things too; here such a name keeps nobody waiting.
    """

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="skitter-names")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of a host; raises socket.gaierror."""
        kind, flags = socket.SOCK_STREAM, socket.AI_ADDRCONFIG
        ask = partial(socket.getaddrinfo, host, port, family, kind, flags=flags)
        found = await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        return [
            ResolveResult(
                hostname=host, host=str(address[0]), port=port, family=family, proto=proto,
                flags=socket.AI_NUMERICHOST,
            )
            for family, _, proto, _, address in found
        ]  # fmt: skip

    async def close(self) -> None:
        """Ask for no more names."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class Resolver(AbstractResolver):
    """For aiohttp's `TCPConnector(resolver=…)`: the rules first, then the usual resolver.

    aiohttp asks no resolver about a URL whose host is an address, so rules for those do not hold.
    """

    def __init__(
        self, rules: Sequence[Rule] = (), fallback: AbstractResolver | None = None
    ) -> None:
        self._rules = tuple(rules)
        self._fallback = fallback

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses to try for a host."""
        address, address_port = resolve(self._rules, host, port)
        kind = _address_family(address)
        if kind is None:
            results = await self._usual().resolve(address, address_port, family)
            return [{**result, "hostname": host} for result in results]
        result = ResolveResult(
            hostname=host, host=address, port=address_port, family=kind, proto=0,
            flags=socket.AI_NUMERICHOST,
        )  # fmt: skip
        return [result]

    async def close(self) -> None:
        """Close the usual resolver, if it was needed."""
        if self._fallback is not None:
            await self._fallback.close()

    def _usual(self) -> AbstractResolver:
        """Made when first needed."""
        if self._fallback is None:
            self._fallback = SystemResolver()
        return self._fallback


def _port(text: str | None, rule: str) -> int | None:
    if text is None:
        return None
    if not 0 < int(text) < 65536:
        raise BadRule(rule=rule, reason=f"{text} is not a port")
    return int(text)


def _address_family(address: str) -> socket.AddressFamily | None:
    """The family of a numeric address; None for a name."""
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, address)
        except OSError:
            continue
        return family
    return None
