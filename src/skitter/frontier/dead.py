"""Dead letters: requests that will not be tried again by themselves, kept until someone decides."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import ormsgpack

from skitter.errors import BadReply, BadRequest
from skitter.frontier.dead_walk import Mark, walk_marks
from skitter.frontier.places import Place, place_text, read_place
from skitter.frontier.request import Request, pack, unpack
from skitter.frontier.urls import parse

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from skitter.frontier.live_jobs import LiveJobs
    from skitter.frontier.shards import Shards

PAGE = 200
MOST_LOOKED = 5_000
_CLOSING = -2


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A request that was given up, and why. `request` is None where it cannot be read."""

    id: str
    shard: int
    job: str
    host: str
    request: Request | None
    reason: str
    error: str
    attempts: int
    crashes: int
    at_ms: int

    @property
    def place(self) -> str:
        """Where a listing goes on after it."""
        return place_text(self.at_ms, self.id)

    def fits(self, reason: str, host: str) -> bool:
        """Whether it has this reason and this host, where they are said."""
        return reason in ("", self.reason) and host in ("", self.host)


@dataclass(frozen=True, slots=True)
class LetterPage:
    """Some letters, the newest first, and the place to go on from; None at the end."""

    letters: list[DeadLetter]
    next: str | None


class DeadLetters:
    """List them, replay them as they are or edited, throw them away."""

    def __init__(self, shards: Shards, jobs: LiveJobs) -> None:
        self._shards = shards
        self._jobs = jobs

    async def find(
        self, *, job: str = "", reason: str = "", host: str = "", limit: int = 100
    ) -> list[DeadLetter]:
        """The newest first, of a job, a reason or a host if told."""
        found = self.parts(job=job, reason=reason, host=host, limit=limit)
        return [letter async for part in found for letter in part]

    async def parts(
        self, *, job: str = "", reason: str = "", host: str = "", limit: int | None = None
    ) -> AsyncGenerator[list[DeadLetter], None]:
        """The same, some at a time: what was given may be replayed or discarded meanwhile."""
        part: list[DeadLetter] = []
        given = 0
        async with aclosing(self.walk(job)) as letters:
            async for letter in letters:
                if letter.fits(reason, host):
                    part.append(letter)
                if limit is not None and given + len(part) >= limit:
                    break
                if len(part) == PAGE:
                    yield part
                    given, part = given + PAGE, []
        if part:
            yield part

    async def page(
        self,
        *,
        job: str = "",
        reason: str = "",
        host: str = "",
        after: str | None = None,
        limit: int = 100,
    ) -> LetterPage:
        """The same a page at a time; after is what the page before calls next.

        With a reason or a host, so many letters are looked at for a page and no more: it may be
        short, and yet not the last.
        """
        place = read_place(after) if after is not None else None
        at_once = PAGE if reason or host else min(limit + 1, PAGE)
        found: list[DeadLetter] = []
        async with aclosing(self.walk(job, after=place, at_once=at_once)) as letters:
            looked = 0
            async for letter in letters:
                looked += 1
                if letter.fits(reason, host):
                    found.append(letter)
                if len(found) > limit:
                    return LetterPage(found[:limit], found[limit - 1].place)
                if looked >= MOST_LOOKED:
                    return LetterPage(found, letter.place)
        return LetterPage(found, None)

    async def named(self, ids: Sequence[str]) -> list[DeadLetter]:
        """Those with these ids, as far as they are there."""
        wanted = [letter_id.encode() for letter_id in ids]
        found: list[DeadLetter] = []
        for shard in range(self._shards.count):
            found += await self._read(shard, wanted)
        return found

    async def count(self, *, job: str = "") -> dict[str, int]:
        """How many there are, by reason."""
        counts: Counter[str] = Counter()
        async for letter in self.walk(job):
            counts[letter.reason] += 1
        return dict(counts)

    async def older(self, *, than_ms: int, limit: int = PAGE) -> list[DeadLetter]:
        """Some of those that were given up before a time (server ms)."""
        found: list[DeadLetter] = []
        for shard, prefix in enumerate(self._shards.prefixes):
            ids = await self._shards.command(
                "ZRANGEBYSCORE", f"{prefix}xt", "-inf", than_ms, "LIMIT", 0, limit
            )
            found += await self._read(shard, ids) if ids else []
        return found[:limit]

    async def replay(
        self, letters: Sequence[DeadLetter], *, edit: Callable[[Request], Request] | None = None
    ) -> list[bool]:
        """Queue them again, first in line; each counts as accepted anew. False: gone, or job ended.

        edit may change a request; one that moves to another host is refused by BadRequest.
        """
        return await self._act("replay", letters, edit)

    async def discard(self, letters: Sequence[DeadLetter]) -> list[bool]:
        """Throw them away for good."""
        return await self._act("discard", letters, None)

    async def _act(
        self,
        verb: Literal["replay", "discard"],
        letters: Sequence[DeadLetter],
        edit: Callable[[Request], Request] | None,
    ) -> list[bool]:
        answers: dict[str, bool] = {}
        for shard in {letter.shard for letter in letters}:
            mine = [letter for letter in letters if letter.shard == shard]
            for first in range(0, len(mine), PAGE):
                part = mine[first : first + PAGE]
                entries = [_edited(m, edit) if edit else b"" for m in part]
                reply = await self._decided(shard, verb, [m.id for m in part], entries)
                for letter, answer in zip(part, reply, strict=True):
                    # One that was named twice is acted on once, and that is what counts.
                    answers[letter.id] = answers.get(letter.id, False) or answer == 1
        return [answers[letter.id] for letter in letters]

    async def _decided(
        self, shard: int, verb: str, ids: list[str], entries: list[bytes]
    ) -> list[int]:
        """The script's answers; it is asked again while a completer decides about a job."""
        while True:
            reply = await self._shards.once(shard, "add", verb, ids, *entries)
            answers = [int(answer) for answer in reply]
            if _CLOSING not in answers:
                return answers
            await asyncio.sleep(0.05)

    async def walk(
        self, job: str = "", *, after: Place | None = None, at_once: int = PAGE
    ) -> AsyncGenerator[DeadLetter, None]:
        """All of them, or a job's, the newest first, from a place on."""
        index = f"xj:{(await self._jobs.known(job)).no}" if job else "xt"
        marks: list[Mark] = []
        async with aclosing(
            walk_marks(self._shards, index, after=after, at_once=at_once)
        ) as walked:
            async for mark in walked:
                marks.append(mark)
                if len(marks) == at_once:
                    for letter in await self._marked(marks):
                        yield letter
                    marks = []
        for letter in await self._marked(marks):
            yield letter

    async def _marked(self, marks: Sequence[Mark]) -> list[DeadLetter]:
        """The letters at these marks, but for those that are gone."""
        ids: dict[int, list[bytes]] = {}
        for mark in marks:
            ids.setdefault(mark.shard, []).append(mark.id.encode())
        parts = await asyncio.gather(*(self._read(shard, mine) for shard, mine in ids.items()))
        found = {letter.id: letter for part in parts for letter in part}
        return [found[mark.id] for mark in marks if mark.id in found]

    async def last_ms(self, job: str) -> int:
        """When the newest of a job's was buried; 0 if there are none."""
        index, newest = f"xj:{(await self._jobs.known(job)).no}", 0
        for prefix in self._shards.prefixes:
            for _, at_ms in await self._shards.scored(f"{prefix}{index}", 0, 0, highest=True):
                newest = max(newest, int(at_ms))
        return newest

    async def oldest(self, job: str, *, until_ms: int, limit: int = PAGE) -> list[DeadLetter]:
        """Some of a job's that were buried by then, of one shard, the oldest first."""
        index = f"xj:{(await self._jobs.known(job)).no}"
        for shard, prefix in enumerate(self._shards.prefixes):
            key = f"{prefix}{index}"
            found = ("ZRANGEBYSCORE", key, "-inf", until_ms, "LIMIT", 0, limit)
            if ids := await self._shards.command(*found):
                return await self._read(shard, ids)
        return []

    async def _read(self, shard: int, ids: list[bytes]) -> list[DeadLetter]:
        # cmsgpack writes bytes as text, which a strict reader refuses: a script takes them apart.
        rows = await self._shards.run(shard, "dead", ormsgpack.packb([i.decode() for i in ids]))
        return [await self._letter(shard, row) for row in rows]

    async def _letter(self, shard: int, row: list[Any]) -> DeadLetter:
        letter_id, host, no, priority, entry, reason, error, at_ms = row
        job = await self._jobs.id_of(no.decode())
        return DeadLetter(
            id=letter_id.decode(),
            shard=shard,
            job=job,
            host=host.decode(),
            request=_readable(entry, job=job, host=host.decode(), priority=int(priority)),
            reason=reason.decode(),
            error=error.decode("utf-8", "replace"),
            attempts=entry[0],
            crashes=entry[1],
            at_ms=int(float(at_ms)),
        )


def _edited(letter: DeadLetter, edit: Callable[[Request], Request]) -> bytes:
    if letter.request is None:
        return b""
    request = edit(letter.request)
    address = parse(request.url)
    if address.host != letter.host and not address.host.endswith("." + letter.host):
        raise BadRequest(
            url=request.url, reason=f"a dead letter of {letter.host} stays with its host"
        )
    return pack(request, url=address.url, host=letter.host)


def _readable(entry: bytes, *, job: str, host: str, priority: int) -> Request | None:
    try:
        return unpack(entry, job=job, host=host, priority=priority)
    except BadReply:
        return None
