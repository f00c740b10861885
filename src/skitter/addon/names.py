"""The rules of `fetch.resolve` for Twisted: names to addresses and ports, before DNS is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IHostnameResolver, IHostResolution
from zope.interface import implementer  # type: ignore[import-untyped]

from skitter.resolve import Rule, parse_rules, resolve

if TYPE_CHECKING:
    from collections.abc import Sequence


def install_rules(texts: Sequence[str]) -> None:
    """Put the rules before the reactor's resolver; those of an earlier crawl are replaced."""
    from twisted.internet import reactor  # noqa: PLC0415 - to import it is to install it

    running: Any = reactor
    known = running.nameResolver
    fallback = known.fallback if isinstance(known, RulesResolver) else known
    if texts or isinstance(known, RulesResolver):
        running.installNameResolver(RulesResolver(parse_rules(texts), fallback))


@implementer(IHostnameResolver)
class RulesResolver:
    """Answers what a rule leads to an address; all else goes to the resolver that was there."""

    def __init__(self, rules: Sequence[Rule], fallback: Any) -> None:
        self._rules = rules
        self.fallback = fallback

    def resolveHostName(  # noqa: N802 - Twisted's name
        self,
        resolutionReceiver: Any,  # noqa: N803
        hostName: str,  # noqa: N803
        portNumber: int = 0,  # noqa: N803
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """Resolve a name; the port may change too."""
        address, port = resolve(self._rules, hostName, portNumber)
        if (address, port) == (hostName, portNumber):
            return self.fallback.resolveHostName(
                resolutionReceiver, hostName, portNumber, *args, **kwargs
            )
        return _answer(resolutionReceiver, self.fallback, address, port)


@implementer(IHostResolution)
class _Resolution:
    def __init__(self, name: str) -> None:
        self.name = name

    def cancel(self) -> None:
        """It is over already."""


def _answer(receiver: Any, fallback: Any, address: str, port: int) -> Any:
    if ":" in address:
        found: Any = IPv6Address("TCP", address, port)
    elif address.replace(".", "").isdigit():
        found = IPv4Address("TCP", address, port)
    else:
        return fallback.resolveHostName(receiver, address, port)
    resolution = _Resolution(address)
    receiver.resolutionBegan(resolution)
    receiver.addressResolved(found)
    receiver.resolutionComplete()
    return resolution
