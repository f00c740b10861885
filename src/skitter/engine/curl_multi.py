"""libcurl's multi interface on the loop: its sockets are the loop's readers, its time a timer.

Nothing runs in another thread but the look-up of names. Connections, names and TLS sessions are
kept by the multi handle, and shared by all transfers.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pycurl  # type: ignore[import-not-found, import-untyped, unused-ignore]

if TYPE_CHECKING:
    from collections.abc import Callable


class CurlMulti:
    """Runs transfers; an easy handle is a transfer that is set up."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._running: dict[Any, asyncio.Future[tuple[int, str]]] = {}
        self._watched: dict[int, int] = {}
        self._multi: Any = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)

    async def run(self, easy: Any) -> tuple[int, str]:
        """A transfer to its end: libcurl's code and what it says about it; 0 is success.

        Whoever is cancelled while waiting ends the transfer, and with it its connection.
        """
        done: asyncio.Future[tuple[int, str]] = self._loop.create_future()
        self._running[easy] = done
        self._multi.add_handle(easy)
        try:
            return await done
        finally:
            del self._running[easy]
            self._multi.remove_handle(easy)

    def close(self) -> None:
        """Close all connections; transfers that still run fail."""
        for easy in list(self._running):
            self._end(easy, pycurl.E_ABORTED_BY_CALLBACK, "the client is closed")
        self._set_timer(-1)
        for descriptor in list(self._watched):
            self._watch(pycurl.POLL_REMOVE, descriptor, None, None)
        # The handle may only go when no transfer is left in it.
        self._loop.call_soon(self._multi.close)

    def _watch(self, what: int, descriptor: int, _multi: Any, _data: Any) -> None:
        before = self._watched.get(descriptor, pycurl.POLL_NONE)
        wanted = pycurl.POLL_NONE if what == pycurl.POLL_REMOVE else what
        sides: tuple[tuple[int, Callable[..., Any], Callable[..., Any], int], ...] = (
            (pycurl.POLL_IN, self._loop.add_reader, self._loop.remove_reader, pycurl.CSELECT_IN),
            (pycurl.POLL_OUT, self._loop.add_writer, self._loop.remove_writer, pycurl.CSELECT_OUT),
        )
        for side, add, remove, bit in sides:
            if wanted & side and not before & side:
                add(descriptor, self._act, descriptor, bit)
            elif before & side and not wanted & side:
                remove(descriptor)
        if wanted:
            self._watched[descriptor] = wanted
        else:
            self._watched.pop(descriptor, None)

    def _set_timer(self, wait_ms: int) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if wait_ms >= 0:
            self._timer = self._loop.call_later(wait_ms / 1000, self._on_time)

    def _on_time(self) -> None:
        self._timer = None
        self._act(pycurl.SOCKET_TIMEOUT, 0)

    def _act(self, descriptor: int, what: int) -> None:
        self._multi.socket_action(descriptor, what)
        more = 1
        while more:
            more, ended, failed = self._multi.info_read()
            for easy in ended:
                self._end(easy, 0, "")
            for easy, code, text in failed:
                self._end(easy, code, text)

    def _end(self, easy: Any, code: int, text: str) -> None:
        done = self._running.get(easy)
        if done and not done.done():
            done.set_result((code, text))
