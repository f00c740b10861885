"""Cookie jars by job, jar and registered domain, so that a login holds on every worker.

A jar is written before the children of the page that set it, and read before a fetch. Each cookie
is written by itself: two workers that learn different ones do not overwrite each other.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import ormsgpack

from skitter.frontier.keys import shard_of_host
from skitter.frontier.urls import registered_domain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skitter.frontier.live_jobs import LiveJobs
    from skitter.frontier.shards import Shards

TTL_MS = 30 * 86_400_000


@dataclass(frozen=True, slots=True)
class Cookie:
    """One cookie; expires_s is a Unix time, 0 for the session's end. value None: only a name."""

    name: str
    value: str | None
    domain: str
    path: str = "/"
    expires_s: float = 0.0
    secure: bool = False
    host_only: bool = True


class CookieJars:
    """Read and write jars."""

    def __init__(self, shards: Shards, jobs: LiveJobs) -> None:
        self._shards = shards
        self._jobs = jobs

    async def get(self, job: str, host: str, *, jar: str = "") -> list[Cookie]:
        """All cookies of a jar for a host's registered domain."""
        fields = await self._shards.fields(await self._key(job, host, jar))
        return [Cookie(**ormsgpack.unpackb(value)) for value in fields.values()]

    async def put(
        self,
        job: str,
        host: str,
        cookies: Sequence[Cookie],
        *,
        gone: Sequence[Cookie] = (),
        jar: str = "",
    ) -> None:
        """Set cookies, and take away those that are gone."""
        key = await self._key(job, host, jar)
        if cookies:
            # The index comes first: a jar that it does not name would outlive its job.
            index, name = await self._index(job, host, jar)
            await self._shards.command("SADD", index, name)
            await self._shards.command("PEXPIRE", index, TTL_MS)
            flat = [part for c in cookies for part in (_field(c), ormsgpack.packb(asdict(c)))]
            await self._shards.command("HSET", key, *flat)
            await self._shards.command("PEXPIRE", key, TTL_MS)
        if gone:
            await self._shards.command("HDEL", key, *map(_field, gone))

    async def _key(self, job: str, host: str, jar: str) -> str:
        index, name = await self._index(job, host, jar)
        return f"{index}:{name}"

    async def _index(self, job: str, host: str, jar: str) -> tuple[str, str]:
        """The key of the set of a job's jars in the domain's shard, and the jar's name in it."""
        domain = registered_domain(host)
        prefix = self._shards.prefixes[shard_of_host(domain, self._shards.count)]
        return f"{prefix}k:{(await self._jobs.known(job)).no}", f"{jar}:{domain}"


def _field(cookie: Cookie) -> str:
    return f"{cookie.domain} {cookie.path} {cookie.name}"
