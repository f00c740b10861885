"""TLS sessions, taken up again when a host that was met before is connected to.

The server then signs nothing, and sends no certificates. Each session is offered once: one that a
server does not like does no harm for long. Connections through proxies should have none, for by its
sessions a client is known again, whatever address it comes from.
"""

from __future__ import annotations

import ssl
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_HOSTS = 500
MOST_EACH = 4


def with_sessions(context: ssl.SSLContext) -> ssl.SSLContext:
    """A context whose connections, from now on, leave their sessions to those that come."""
    changed: Any = context
    changed.wrap_bio = _Sessions(context.wrap_bio).wrap
    changed.sslobject_class = _Connection
    return context


class _Sessions:
    def __init__(self, wrap: Callable[..., ssl.SSLObject]) -> None:
        self._wrap = wrap
        self._kept: OrderedDict[str, list[ssl.SSLSession]] = OrderedDict()

    def keep(self, host: str, session: ssl.SSLSession) -> None:
        """For the next connection to the host."""
        sessions = self._kept.setdefault(host, [])
        sessions.append(session)
        del sessions[:-MOST_EACH]
        self._kept.move_to_end(host)
        if len(self._kept) > MOST_HOSTS:
            self._kept.popitem(last=False)

    def wrap(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,  # noqa: FBT001, FBT002 - as there
        server_hostname: str | None = None,
    ) -> ssl.SSLObject:
        """As a context's `wrap_bio`, which asyncio calls for each connection."""
        host = server_hostname or ""
        kept = self._kept.get(host)
        made = self._wrap(
            incoming,
            outgoing,
            server_side=server_side,
            server_hostname=server_hostname,
            session=kept.pop() if kept else None,
        )
        assert isinstance(made, _Connection)  # noqa: S101 - as the context was told
        made.sessions, made.host = self, host
        return made


class _Connection(ssl.SSLObject):
    """Keeps its session with the first data that it reads: by then a server has handed it over."""

    sessions: _Sessions | None = None
    host = ""

    def read(self, *args: Any) -> Any:
        data = super().read(*args)
        if self.sessions is not None:
            if self.session is not None:
                self.sessions.keep(self.host, self.session)
            self.sessions = None
        return data
