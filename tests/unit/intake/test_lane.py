"""What a lane gives out, and when it wants more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skitter.intake.bounds import Bounds
from skitter.intake.holding import Holding

if TYPE_CHECKING:
    from collections.abc import Callable

    from skitter.intake import Lane, Page


def test_it_asks_for_more_when_it_is_half_empty(lane: Lane, new_page: Callable[..., Page]) -> None:
    asked: list[int] = []
    lane.on_low = lambda: asked.append(len(lane.ready))
    assert lane.wanted == 10
    lane.ready.extend(new_page(str(n)) for n in range(10))
    assert lane.wanted == 0
    while lane.take():
        pass
    assert asked == [5, 4, 3, 2, 1, 0, 0]


def test_stale_pages_stay_until_they_are_renewed(lane: Lane, new_page: Callable[..., Page]) -> None:
    page = new_page(age_ms=9_500)
    lane.ready.append(page)
    assert lane.take() is None
    page.lease.confirmed_ms += 9_000
    assert lane.take() is page


def test_what_is_gone_or_to_be_given_back_is_passed_over(
    lane: Lane, new_page: Callable[..., Page]
) -> None:
    gone, paused, fine = [new_page(str(n)) for n in range(3)]
    gone.gone = paused.give_back = True
    lane.ready.extend([gone, paused, fine])
    assert lane.take() is fine


def test_the_margin_is_at_most_a_tenth_of_a_short_lease(
    frontier: Any, new_page: Callable[..., Page]
) -> None:
    page = new_page()
    for margin_s, used_ms in ((0.5, 500), (3, 1000)):
        holding = Holding(frontier, bounds=Bounds(), margin_s=margin_s)
        assert holding.may_send(page)
        assert frontier.margins[-1] == used_ms
