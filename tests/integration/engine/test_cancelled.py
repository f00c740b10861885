"""What a spider or a pipeline waits for may be cancelled: the page ends all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from skitter.lab import WebSpec
from tests.integration.addon.test_outcomes import letters, settled

if TYPE_CHECKING:
    from skitter.frontier import Frontier
    from tests.integration.addon.conftest import StartBench

pytestmark = pytest.mark.integration

SMALL = WebSpec(hosts=1, pages=5, links=0)


async def test_in_a_callback_it_is_an_error_of_the_callback(
    bench: StartBench, frontier: Frontier
) -> None:
    one = bench(SMALL)
    outcome = one.run("Cancelled")
    ((path, reason, _),) = await letters(frontier)
    assert (path, reason) == ("/", "callback")
    assert outcome.stats["spider_exceptions/CancelledError"] == 1
    assert len(one.data()) == 1


async def test_in_a_pipeline_it_is_an_error_of_the_item(
    bench: StartBench, frontier: Frontier
) -> None:
    settings: dict[str, Any] = {
        "ITEM_PIPELINES": {"tests.integration.addon.spiders.Cancelling": 1},
        "PIPELINE_IS_CANCELLED": True,
    }
    one = bench(SMALL)
    one.run("Cancelled", **settings, skitter={"retry.attempts": ["item=1"]})
    ((path, reason, _),) = await letters(frontier)
    assert (path, reason) == ("/", "item")
    assert (await settled(frontier)).done == 1
