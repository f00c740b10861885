"""Sites that are odd or away: what is read of them, and what is told."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.integration.engine.bad_server import BadServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skitter.frontier import Frontier
    from tests.integration.addon.conftest import StartBench

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def bad() -> Iterator[BadServer]:
    with BadServer() as server:
        yield server


async def test_of_a_long_robots_txt_the_first_part_counts(
    bench: StartBench, bad: BadServer, frontier: Frontier
) -> None:
    one = bench()
    urls = [f"http://long-robots.bad/{path}" for path in ("open", "secret")]
    one.run(
        "Everywhere",
        args={"urls": json.dumps(urls)},
        skitter={"fetch.resolve": bad.rules, "fetch.max_body_bytes": 1 << 20},
    )
    assert [item["url"] for item in one.data()] == urls[:1]
    assert (await frontier.stats.job("j")).figures["disallowed"] == 1


def test_a_page_that_failed_for_good_is_told_in_a_line(bench: StartBench, bad: BadServer) -> None:
    outcome = bench().run(
        "Everywhere",
        args={"urls": json.dumps(["http://cut-short.bad/"])},
        skitter={"fetch.resolve": bad.rules, "retry.max_attempts": 1},
        LOG_LEVEL="INFO",
    )
    [told] = [line for line in outcome.log.splitlines() if "Error downloading" in line]
    assert told.startswith("ERROR Error downloading <GET http://cut-short.bad/>: ResponseDataLoss")
    assert "Traceback" not in outcome.log
