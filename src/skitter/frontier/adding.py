"""How requests get in: checked and fingerprinted here, dedup and queue in the shard.

Whatever is wrong with one request is that one's result; the others are not held up by it.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import defaultdict
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import ormsgpack

from skitter.errors import BadRequest, UnknownJob
from skitter.frontier.job import politeness_unit
from skitter.frontier.keys import shard_of_host, shard_of_job
from skitter.frontier.lease import Added
from skitter.frontier.request import Request, check, pack
from skitter.frontier.urls import START, START_HOST, fingerprint, parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skitter.frontier.live_jobs import KnownJob, LiveJobs
    from skitter.frontier.shards import Shards

BATCH = 500
_RESULTS = {"n": "new", "k": "known", "b": "host budget", "e": "job ended"}
_NOT_HERE, _CLOSING = "j", "p"
_Queue = tuple[str, int, str]
_Row = tuple[int, _Queue, str, bytes]


class Adding:
    """Turns requests into rows, sends each shard its own, and puts the answers in order."""

    def __init__(
        self,
        shards: Shards,
        jobs: LiveJobs,
        *,
        max_url_bytes: int,
        max_request_bytes: int,
        unit: str,
    ) -> None:
        self._shards = shards
        self._jobs = jobs
        self._max_url_bytes = max_url_bytes
        self._max_request_bytes = max_request_bytes
        self._unit = unit

    async def add(
        self,
        requests: Sequence[Request],
        *,
        parents: Sequence[Request | None],
        met: dict[int, int] | None = None,
    ) -> Added:
        """Queue what is new."""
        results = [""] * len(requests)
        rows: dict[int, list[_Row]] = defaultdict(list)
        occurrences = _Occurrences(met)
        known = {name: await self._find(name) for name in {request.job for request in requests}}
        for i, (request, parent) in enumerate(zip(requests, parents, strict=True)):
            try:
                shard, queue, mark, entry = self._row(
                    request, parent, job=known[request.job], met=occurrences
                )
            except BadRequest as error:
                results[i] = str(error.reason)
                continue
            rows[shard].append((i, queue, mark, entry))
        batches = [
            (shard, group[first : first + BATCH])
            for shard, group in rows.items()
            for first in range(0, len(group), BATCH)
        ]
        await asyncio.gather(*(self._send(shard, batch, results) for shard, batch in batches))
        await self._shards.replicate(rows)
        occurrences.keep()
        return Added(results)

    async def forget(self, job: str, urls: Sequence[str]) -> int:
        """Forget that URLs were seen in the job's scope."""
        known = await self._jobs.known(job)
        rows: dict[int, list[Any]] = defaultdict(list)
        for url in urls:
            address = parse(url, max_bytes=self._max_url_bytes)
            unit = politeness_unit(address.host, self._unit)
            mark = fingerprint(address.url)
            rows[shard_of_host(unit, self._shards.count)].append(str(mark))
        counts = [
            await self._shards.run(shard, "unsee", known.scope, ormsgpack.packb(row))
            for shard, row in rows.items()
        ]
        return sum(map(int, counts))

    async def _find(self, job: str) -> KnownJob | None:
        try:
            return await self._jobs.known(job)
        except UnknownJob:
            return None

    def _row(
        self,
        request: Request,
        parent: Request | None,
        *,
        job: KnownJob | None,
        met: _Occurrences,
    ) -> _Row:
        """Where a request goes, its fingerprint, and its entry in the queue."""
        if job is None:
            raise BadRequest(url=request.url, reason="unknown job")
        check(request)
        if request.url == START:
            url, host, shard = START, START_HOST, shard_of_job(job.no, self._shards.count)
        else:
            url, name = parse(request.url, max_bytes=self._max_url_bytes)
            reason = job.job.refuses(url, host=name, depth=request.depth)
            if reason:
                raise BadRequest(url=url, reason=f"out of scope: {reason}")
            host = politeness_unit(name, self._unit)
            shard = shard_of_host(host, self._shards.count)
        mark = fingerprint(url, method=request.method, body=request.body)
        if request.dont_filter:
            mark = self._tell_apart(request, parent, mark, met)
        entry = pack(request, url=url, host=host)
        if len(entry) > self._max_request_bytes:
            raise BadRequest(
                url=url,
                reason=f"it takes {len(entry)} bytes; the bound is {self._max_request_bytes}",
            )
        return shard, (job.no, int(request.priority), host), str(mark), entry

    @staticmethod
    def _tell_apart(request: Request, parent: Request | None, mark: int, met: _Occurrences) -> int:
        """A replayed parent makes the same unfiltered children, and they count as the same.

        The job is part of it: two jobs may make the same page's children in one call, or share a
        scope, and neither's children are the other's.
        """
        origin = identity(parent) if parent else secrets.token_hex(8)
        text = f"{request.job} {origin} {mark}"
        text = f"{text} {met.count(text)}"
        request.key = blake2b(text.encode(), digest_size=8).hexdigest()
        return int.from_bytes(bytes.fromhex(request.key), "little", signed=True)

    async def _send(self, shard: int, batch: list[_Row], results: list[str]) -> None:
        while batch:
            queues: dict[_Queue, list[_Row]] = defaultdict(list)
            for row in batch:
                queues[row[1]].append(row)
            header: list[Any] = []
            for queue, members in queues.items():
                header += (*queue, len(members))
            order = [row for members in queues.values() for row in members]
            args = [value for _, _, mark, entry in order for value in (mark, entry)]
            letters = (await self._shards.once(shard, "add", "add", header, *args)).decode()
            batch = await self._again(shard, order, letters, results)

    async def _again(
        self, shard: int, order: list[_Row], letters: str, results: list[str]
    ) -> list[_Row]:
        """Notes the results; what its shard could not decide yet is sent once more."""
        again, not_here = [], set()
        for row, letter in zip(order, letters, strict=True):
            if letter in _RESULTS:
                results[row[0]] = _RESULTS[letter]
                continue
            again.append(row)
            if letter == _NOT_HERE:
                not_here.add(row[1][0])
        for no in not_here:
            await self._jobs.attach(no, shard)
        if _CLOSING in letters:
            await asyncio.sleep(0.05)
        return again


class _Occurrences:
    """Which of its equals a request is, counted on from what earlier calls met.

    Counts are kept only when the call has succeeded, so that a repeat counts the same. They are
    kept by a hash, for a start() may make a million of them.
    """

    def __init__(self, met: dict[int, int] | None) -> None:
        self._before = {} if met is None else met
        self._now: dict[int, int] = {}

    def count(self, text: str) -> int:
        key = hash(text)
        number = self._now.get(key) or self._before.get(key, 0)
        self._now[key] = number + 1
        return number + 1

    def keep(self) -> None:
        self._before.update(self._now)


def identity(request: Request) -> str:
    """What a request is known by in its job, however often it is handed out."""
    return request.key or f"{fingerprint(request.url, method=request.method, body=request.body):x}"
