"""What becomes of pages when a sink fails."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import pytest

from skitter.errors import SinkError, SinkRefused
from skitter.frontier import Request, Settlement
from skitter.intake.storer import MOST_ATTEMPTS, Storer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skitter.intake import Page
    from skitter.intake.holding import Holding

AWAY = SinkError(sink="test", reason="away")
REFUSED = SinkRefused(sink="test", reason="never")


class ScriptedSink:
    """Answers puts from a list: None is well, an error is raised. Then all is well."""

    def __init__(self, *answers: Exception | None) -> None:
        self.answers = deque(answers)
        self.puts: list[list[Any]] = []

    async def open(self) -> None: ...

    async def put(self, items: Sequence[Any]) -> None:
        answer = self.answers.popleft() if self.answers else None
        if answer:
            raise answer
        self.puts.append(list(items))

    async def close(self) -> None: ...


@pytest.fixture
def settled(new_page: Callable[..., Page], holding: Holding) -> Callable[..., Page]:
    def make(name: str = "1", attempts: int = 0) -> Page:
        page = new_page(name)
        page.request.attempts = attempts
        page.items = [f"item of {name}"]  # type: ignore[list-item]
        page.children = [Request("j", "https://b.org/")]
        page.settlement = Settlement(page.lease, page=True)
        holding.items += 1
        holding.children += 1
        return page

    return make


async def outcomes(sink: ScriptedSink, holding: Holding, *pages: Page) -> list[str]:
    """Which outcome each page may be settled with; '' if it has to wait."""
    ready = await Storer(sink, holding).store(pages)
    return [page.settlement.outcome if page in ready else "" for page in pages if page.settlement]


async def test_all_goes_in_one_put(settled: Callable[..., Page], holding: Holding) -> None:
    sink = ScriptedSink()
    assert await outcomes(sink, holding, settled("1"), settled("2")) == ["done", "done"]
    assert sink.puts == [["item of 1", "item of 2"]]
    assert (holding.items, holding.children) == (0, 2)


async def test_a_sink_that_takes_nothing_is_away_and_all_wait(
    settled: Callable[..., Page], holding: Holding
) -> None:
    sink = ScriptedSink(AWAY, AWAY, AWAY)
    assert await outcomes(sink, holding, settled("1"), settled("2")) == ["", ""]
    assert holding.items == 2


async def test_the_page_that_fails_beside_others_is_tried_again_without_its_children(
    settled: Callable[..., Page], holding: Holding
) -> None:
    sink = ScriptedSink(AWAY, None, AWAY, AWAY)
    assert await outcomes(sink, holding, settled("1"), settled("2")) == ["done", "retry"]
    assert (holding.items, holding.children) == (0, 1)


async def test_a_sink_that_comes_back_in_between_has_nothing_against_a_page(
    settled: Callable[..., Page], holding: Holding
) -> None:
    sink = ScriptedSink(AWAY, AWAY, AWAY, None)
    pages = [settled(name) for name in "123"]
    assert await outcomes(sink, holding, *pages) == ["done", "done", "done"]
    assert (holding.items, holding.children) == (0, 3)


async def test_what_is_refused_is_buried_and_the_rest_waits_if_the_sink_is_away(
    settled: Callable[..., Page], holding: Holding
) -> None:
    sink = ScriptedSink(REFUSED, REFUSED, AWAY)
    assert await outcomes(sink, holding, settled("1"), settled("2")) == ["bury", ""]


async def test_an_unknown_failure_of_one_page_is_tried_again_and_buried_in_the_end(
    settled: Callable[..., Page], holding: Holding
) -> None:
    for attempts, outcome in ((0, "retry"), (MOST_ATTEMPTS - 1, "bury")):
        page = settled(attempts=attempts)
        assert await outcomes(ScriptedSink(ValueError("odd")), holding, page) == [outcome]
        assert page.settlement is not None
        assert (page.settlement.reason, page.settlement.error) == ("sink", "odd")


async def test_early_items_wait_for_the_sink_and_a_refusal_is_raised(
    settled: Callable[..., Page], holding: Holding
) -> None:
    page, sink = settled(), ScriptedSink(AWAY)
    await Storer(sink, holding).store_early(page)
    assert (page.items, sink.puts) == ([], [["item of 1"]])
    page = settled("2")
    with pytest.raises(SinkRefused):
        await Storer(ScriptedSink(REFUSED), holding).store_early(page)
    assert len(page.items) == 1
