"""A small client: a method for each thing that is asked, JSON objects in and out.

What the API refuses raises ClientError with its words and its hint; what it refuses because it is
busy (429, 503 with Retry-After) is tried again a few times, if it may be repeated.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

import aiohttp

from skitter.access_errors import ClientError
from skitter.client.events import Event, read_events

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Mapping

    from skitter.jobs.submission import Submission

Json = dict[str, Any]
TRIES, LONGEST_WAIT_S = 4, 10.0
NDJSON = {"Content-Type": "application/x-ndjson"}
_BUSY = (429, 503)


class Client:
    """One server's API, by one key. Open it with `async with`."""

    def __init__(
        self, url: str, key: str = "", *, timeout_s: float = 60.0, tries: int = TRIES
    ) -> None:
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)
        self._endless = aiohttp.ClientTimeout(total=None, sock_read=timeout_s)
        self._tries = tries
        self._session: aiohttp.ClientSession

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(headers=self._headers, timeout=self._timeout)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def ask(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Json:
        """One question, with JSON both ways; raises ClientError."""
        given = {name: _text(value) for name, value in (params or {}).items() if value is not None}
        for tries in range(self._tries):
            async with self._session.request(
                method, self._url + path, json=body, params=given, headers=headers
            ) as response:
                last = tries == self._tries - 1 or not _repeatable(method, headers)
                if response.status not in _BUSY or last:
                    return await _answer(response)
                await response.read()
                wait_s = float(response.headers.get("Retry-After", 1))
            await asyncio.sleep(min(wait_s, LONGEST_WAIT_S))
        raise AssertionError("the last try returns or raises")

    async def submit(self, submission: Submission | Json, *, again: str = "") -> Json:
        """Submit a job, once: `again` is the name under which it may be repeated."""
        given = submission if isinstance(submission, dict) else submission.to_json()
        headers = {"Idempotency-Key": again or secrets.token_hex(16)}
        return await self.ask("POST", "/api/v1/jobs", body=given, headers=headers)

    async def jobs(self, **filters: Any) -> Json:
        """A page of jobs: `jobs`, and `next` for after=."""
        return await self.ask("GET", "/api/v1/jobs", params=filters)

    async def job(self, job: str) -> Json:
        return await self.ask("GET", _job(job))

    async def pause(self, job: str) -> Json:
        return await self.ask("POST", _job(job, "pause"))

    async def resume(self, job: str) -> Json:
        return await self.ask("POST", _job(job, "resume"))

    async def stop(self, job: str) -> Json:
        return await self.ask("POST", _job(job, "stop"))

    async def reprioritise(self, job: str, priority: int) -> Json:
        return await self.ask("POST", _job(job, "priority"), body={"priority": priority})

    async def clone(self, job: str, **edits: Any) -> Json:
        return await self.ask("POST", _job(job, "clone"), body=edits)

    async def retry(self, job: str) -> Json:
        return await self.ask("POST", _job(job, "retry"))

    async def delete(self, job: str) -> None:
        await self.ask("DELETE", _job(job))

    async def upcoming(self, job: str, limit: int = 20) -> list[Json]:
        answer = await self.ask("GET", _job(job, "upcoming"), params={"limit": limit})
        return list(answer["requests"])

    async def errors(self, job: str) -> dict[str, int]:
        return dict((await self.ask("GET", _job(job, "errors")))["errors"])

    async def add_seeds(self, job: str, lines: AsyncIterable[str]) -> Json:
        """Add URLs, or JSON objects of requests, to a live job; they are sent as they come."""
        return await self._send(_job(job, "seeds"), lines)

    async def submit_seeded(self, submission: Submission | Json, lines: AsyncIterable[str]) -> Json:
        """Submit a job with any number of seeds in one request."""
        given = submission if isinstance(submission, dict) else submission.to_json()

        async def whole() -> AsyncIterator[str]:
            yield json.dumps(given)
            async for line in lines:
                yield line

        return await self._send("/api/v1/jobs/seeded", whole())

    async def submit_bulk(self, lines: AsyncIterable[str]) -> Json:
        """Submit many jobs, each a JSON object."""
        return await self._send("/api/v1/jobs/bulk", lines)

    async def items(self, *, limit: int = 500, **filters: Any) -> AsyncGenerator[Json]:
        """All items that fit, page by page."""
        after: str | None = None
        while True:
            asked = filters | {"after": after, "limit": limit}
            page = await self.ask("GET", "/api/v1/items", params=asked)
            for item in page["items"]:
                yield item
            after = page["next"]
            if after is None:
                return

    async def export(self, form: str = "jsonl", **filters: Any) -> AsyncGenerator[bytes]:
        """The bytes of an export, as they come."""
        params = {name: _text(value) for name, value in filters.items() if value is not None}
        async with self._session.get(
            f"{self._url}/api/v1/items/export",
            params=params | {"format": form},
            timeout=self._endless,
        ) as response:
            await _check(response)
            async for chunk in response.content.iter_any():
                yield chunk

    async def events(self, job: str | None = None, *, after: str = "") -> AsyncGenerator[Event]:
        """What happens to all jobs, or to one with its progress; after: an event's id."""
        path = _job(job, "events") if job else "/api/v1/events"
        headers = {"Last-Event-ID": after} if after else {}
        async with self._session.get(
            self._url + path, headers=headers, timeout=self._endless
        ) as response:
            await _check(response)
            async for event in read_events(response.content):
                yield event

    async def feed(self, message: Json) -> Json:
        """A message of Scrapy Cluster's, and its answer as it is there."""
        return await self._wrapped("/feed", message)

    async def poll(self, poll_id: str) -> Json:
        return await self._wrapped("/poll", {"poll_id": poll_id})

    async def _wrapped(self, path: str, message: Any) -> Json:
        async with self._session.post(self._url + path, json=message) as response:
            found: Json = await response.json()
            return found

    async def _send(self, path: str, lines: AsyncIterable[str]) -> Json:
        async with self._session.post(
            self._url + path, data=_encoded(lines), headers=NDJSON, timeout=self._endless
        ) as response:
            return await _answer(response)


def _job(job: str, verb: str = "") -> str:
    path = f"/api/v1/jobs/{quote(job, safe='')}"
    return f"{path}/{verb}" if verb else path


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _repeatable(method: str, headers: Mapping[str, str] | None) -> bool:
    return method != "POST" or "Idempotency-Key" in (headers or {})


async def _encoded(lines: AsyncIterable[str]) -> AsyncIterator[bytes]:
    """In pieces of some size: a line by itself would be a packet each."""
    gathered: list[str] = []
    async for line in lines:
        gathered.append(line)
        if len(gathered) == 500:
            yield ("\n".join(gathered) + "\n").encode()
            gathered = []
    if gathered:
        yield ("\n".join(gathered) + "\n").encode()


async def _answer(response: aiohttp.ClientResponse) -> Json:
    await _check(response)
    found: Json = {} if response.status == 204 else await response.json()
    return found


async def _check(response: aiohttp.ClientResponse) -> None:
    if response.status < 400:
        return
    try:
        problem = json.loads(await response.read())
    except ValueError:
        problem = {}
    told = problem.get("detail") or response.reason or "no reason given"
    raise ClientError(status=response.status, detail=told, hint=problem.get("hint", ""))
