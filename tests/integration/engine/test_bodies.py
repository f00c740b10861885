"""Big pages: a process has no more of them in hand than its bound allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skitter.lab import WebSpec
from tests.integration.addon.conftest import share

if TYPE_CHECKING:
    from tests.integration.addon.conftest import StartBench

pytestmark = pytest.mark.integration

PAGE = 500_000
HEAVY = "tests.integration.engine.heavy.Heavy"
SPEC = WebSpec(hosts=4, pages=15, links=10, page_bytes=PAGE, delays_ms=(0.0, 50.0))


@pytest.mark.parametrize("bound", [4 * PAGE, PAGE // 4])
def test_bodies_in_hand_keep_to_their_bound(bench: StartBench, bound: int) -> None:
    one = bench(SPEC)
    outcome = one.run(
        HEAVY, skitter={"worker.body_bytes": bound}, SCRAPER_SLOT_MAX_ACTIVE_SIZE=1 << 40
    )
    verdict = one.lab.verdict()
    assert (share(verdict), verdict.polite) == (1.0, True), verdict
    largest = max(data["size"] for data in one.data())
    assert outcome.stats["most_bytes"] <= bound + largest
    assert outcome.stats["most_bytes"] >= min(bound, largest), "it was used"


def test_without_a_narrow_bound_more_of_them_are_in_hand(bench: StartBench) -> None:
    outcome = bench(SPEC).run(HEAVY, SCRAPER_SLOT_MAX_ACTIVE_SIZE=1 << 40)
    assert outcome.stats["most_bytes"] > 6 * PAGE
