from __future__ import annotations

import errno
import time
from typing import TYPE_CHECKING

import aiohttp
import pytest

from skitter.lab import Drip, Fault, WebSpec

if TYPE_CHECKING:
    from skitter.lab.pytest_plugin import StartLab
    from tests.integration.lab.conftest import Client


@pytest.mark.parametrize("kind", ["403", "404", "410", "429", "500", "502", "503", "504"])
async def test_a_status_fault_passes_after_its_attempts(
    lab: StartLab, client: Client, kind: str
) -> None:
    web = await lab(WebSpec(pages=2, faults=(Fault(kind, 1.0, attempts=2, retry_after_s=3),)))
    session = await client(web)
    answers = [await session.get(web.url(0, "/p/1")) for _ in range(3)]
    assert [answer.status for answer in answers] == [int(kind), int(kind), 200]
    told = answers[0].headers.get("Retry-After")
    assert told == ("3" if kind in ("429", "503") else None)


async def test_a_reset_is_a_reset(lab: StartLab, client: Client) -> None:
    web = await lab(WebSpec(pages=2, faults=(Fault("reset", 1.0),)))
    session = await client(web)
    with pytest.raises(aiohttp.ClientOSError) as caught:
        await session.get(web.url(0, "/p/1"))
    assert caught.value.errno == errno.ECONNRESET
    assert (await session.get(web.url(0, "/p/1"))).status == 200


async def test_a_truncated_body_ends_too_early(lab: StartLab, client: Client) -> None:
    web = await lab(WebSpec(pages=2, faults=(Fault("truncated", 1.0),)))
    session = await client(web)
    answer = await session.get(web.url(0, "/p/1"))
    with pytest.raises(aiohttp.ClientPayloadError):
        await answer.read()
    again = await session.get(web.url(0, "/p/1"))
    assert len(await again.read()) == again.content_length


async def test_a_hanging_page_never_answers(lab: StartLab, client: Client) -> None:
    web = await lab()
    session = await client(web, timeout=aiohttp.ClientTimeout(total=0.05))
    with pytest.raises(TimeoutError):
        await session.get(web.url(0, "/fault/hang"))


async def test_faults_can_be_ordered_by_path(lab: StartLab, client: Client) -> None:
    web = await lab()
    session = await client(web)
    always = [(await session.get(web.url(0, "/fault/500"))).status for _ in range(3)]
    twice = [(await session.get(web.url(0, "/fault/503/2"))).status for _ in range(3)]
    assert (always, twice) == ([500, 500, 500], [503, 503, 200])


async def test_latency_comes_before_the_head(lab: StartLab, client: Client) -> None:
    web = await lab(WebSpec(latency_ms=(30, 30)))
    session = await client(web)
    began_s = time.monotonic()
    await session.get(web.url(0))
    assert time.monotonic() - began_s >= 0.03


async def test_a_drip_sends_its_head_at_once_and_its_body_in_pieces(
    lab: StartLab, client: Client
) -> None:
    web = await lab(WebSpec(page_bytes=1000, drip=Drip(rate=1.0, pieces=5, interval_ms=10)))
    session = await client(web)
    began_s = time.monotonic()
    answer = await session.get(web.url(0))
    pieces = [piece async for piece, _ in answer.content.iter_chunks()]
    assert time.monotonic() - began_s >= 0.05
    assert len(pieces) >= 2
    assert sum(map(len, pieces)) == 1000


async def test_a_redirect_chain_ends_and_a_loop_does_not(lab: StartLab, client: Client) -> None:
    web = await lab(WebSpec(hosts=3))
    session = await client(web)
    answer = await session.get(web.url(0, "/hops/5"))
    assert (answer.status, answer.url.path, len(answer.history)) == (200, "/hops/0", 5)
    assert {seen.status for seen in answer.history} <= {301, 302, 303, 307, 308}
    with pytest.raises(aiohttp.TooManyRedirects):
        await session.get(web.url(0, "/loop/1/a"))
    crossed = await session.get(web.url(0, "/go/2/7"))
    assert (crossed.status, str(crossed.url)) == (200, web.url(2, "/p/7"))


async def test_traps_lead_ever_deeper(lab: StartLab, client: Client) -> None:
    web = await lab()
    session = await client(web)
    calendar = await (await session.get(web.url(0, "/calendar/2026/12"))).text()
    assert 'href="/calendar/2027/1"' in calendar
    deep = await (await session.get(web.url(0, "/a" * 50))).text()
    assert f'href="{"/a" * 51}"' in deep
    assert (await web.verdict()).traps == 2
