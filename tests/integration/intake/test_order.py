"""Items before children before the settlement, and what happens when one of them fails."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from skitter.errors import SinkError, SinkRefused
from skitter.frontier import Fetch, Request
from tests.integration.intake.conftest import LANE, open_lane, take, urls
from tests.integration.intake.engine import MemorySink, item_of
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skitter.intake import Intake, Page
    from skitter.sinks import Item
    from tests.integration.intake.conftest import Workshop


def finish(intake: Intake, page: Page, *children: str, **fields: Any) -> None:
    """Fetched, with an item and children, and settled."""
    assert intake.may_send(page)
    intake.fetched(page, Fetch(latency_ms=1, status=200))
    page.children += [Request(page.request.job, url) for url in children]
    page.items.append(item_of(page, url=page.request.url))
    intake.settle(page, page_given=True, **fields)


async def one_page(shop: Workshop, **options: Any) -> tuple[Intake, Page]:
    intake = await shop.open(**options)
    await shop.job()
    await shop.add("https://a.com/0")
    [page] = await take(open_lane(intake))
    return intake, page


class WatchingSink(MemorySink):
    """Notes what the frontier had when items came."""

    def __init__(self, shop: Workshop) -> None:
        super().__init__()
        self.shop = shop
        self.seen: list[tuple[int, int]] = []

    async def put(self, items: Sequence[Item]) -> None:
        stats = await self.shop.stats()
        self.seen.append((stats.accepted, stats.done))
        await super().put(items)


async def test_items_come_first_then_children_then_the_settlement(shop: Workshop) -> None:
    sink = WatchingSink(shop)
    intake, page = await one_page(shop, sink=sink)
    order: list[str] = []
    frontier = shop.frontier
    add, by_shard = frontier._adding.add, frontier._by_shard

    async def adding(*args: Any, **kw: Any) -> Any:
        added = await add(*args, **kw)
        order.append(f"children, {len(sink.items)} items")
        return added

    async def settling(leases: Any, name: str, rows: Any) -> Any:
        order.append(name)
        return await by_shard(leases, name, rows)

    frontier._adding.add = adding  # type: ignore[method-assign]
    frontier._by_shard = settling  # type: ignore[method-assign]
    finish(intake, page, *urls("b.org", 3))
    await wait_until_async(lambda: intake.stats.settled == 1)
    assert sink.seen == [(1, 0)]
    assert [step for step in order if step != "fetched"] == ["children, 1 items", "settle"]
    stats = await shop.stats()
    assert (stats.accepted, stats.done, stats.pages) == (4, 1, 1)


async def test_a_process_that_ends_before_its_items_are_durable_has_settled_nothing(
    shop: Workshop,
) -> None:
    shop.sink.away = True
    intake, page = await one_page(shop)
    finish(intake, page, *urls("b.org", 3))
    await wait_until_async(lambda: intake.stats.settlements == 1)
    await intake.close()
    stats = await shop.stats()
    assert (stats.accepted, stats.done, stats.queued) == (1, 0, 1)
    shop.sink.away = False
    other = await shop.open("w2")
    [again] = await take(open_lane(other))
    finish(other, again, *urls("b.org", 3))
    await wait_until_async(lambda: other.stats.settled == 1)
    assert len(shop.sink.items) == 1
    assert (await shop.stats()).accepted == 4
    await shop.counts_are_right()


async def test_a_process_killed_between_items_and_settlement_doubles_nothing(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    intake, page = await one_page(shop)
    monkeypatch.setattr(shop.frontier, "settle", _never)
    page.children.append(Request("j", "https://b.org/again", dont_filter=True))
    finish(intake, page, *urls("b.org", 3))
    await wait_until_async(lambda: len(shop.sink.items) == 1)
    await shop.frontiers[0]._adding.add(
        page.children, parents=[page.request] * len(page.children)
    )  # its children got in too, and there it died
    second = await shop.connect("care")
    assert await second.reap("w1") == 1
    other = await shop.open("w2")
    [again] = [p for p in await take(open_lane(other), 5) if p.request.url == page.request.url]
    again.children.append(Request("j", "https://b.org/again", dont_filter=True))
    finish(other, again, *urls("b.org", 3))
    await wait_until_async(lambda: other.stats.settled == 1)
    stats = await second.stats.job("j")
    assert (stats.accepted, stats.done, len(shop.sink.items)) == (5, 1, 1)


async def _never(_: object) -> list[bool]:
    await asyncio.Event().wait()
    return []


async def test_a_sink_that_was_away_for_a_while_gets_everything(shop: Workshop) -> None:
    shop.sink.errors.extend(SinkError(sink="memory", reason="away") for _ in range(3))
    intake, page = await one_page(shop)
    finish(intake, page, "https://b.org/")
    await wait_until_async(lambda: intake.stats.settled == 1)
    assert len(shop.sink.items) == 1
    stats = await shop.stats()
    assert (stats.done, stats.retries, stats.accepted) == (1, 0, 2)


async def test_pages_without_items_are_settled_while_the_sink_is_away(shop: Workshop) -> None:
    shop.sink.away = True
    intake = await shop.open()
    await shop.job()
    await shop.add(*urls("a.com", 2))
    with_items, without = await take(open_lane(intake), 2)
    finish(intake, with_items)
    intake.settle(without, page_given=True)
    await wait_until_async(lambda: intake.stats.settled == 1)
    assert intake.stats.settlements == 1
    shop.sink.away = False
    await wait_until_async(lambda: intake.stats.settled == 2)


async def test_a_page_whose_items_alone_fail_is_tried_again_and_the_others_are_done(
    shop: Workshop,
) -> None:
    shop.sink.poison = "/1"
    intake = await shop.open()
    await shop.job()
    await shop.add(*urls("a.com", 3))
    for page in await take(open_lane(intake), 3):
        finish(intake, page, "https://b.org" + page.request.url[-2:])
    await wait_until_async(lambda: intake.stats.settled == 3)
    assert (intake.stats.retried, len(shop.sink.items)) == (1, 2)
    stats = await shop.stats()
    assert (stats.done, stats.delayed, stats.accepted) == (2, 1, 5)


async def test_a_page_that_the_sink_refuses_for_good_is_a_dead_letter(shop: Workshop) -> None:
    shop.sink.errors.append(SinkRefused(sink="memory", reason="no such column"))
    intake, page = await one_page(shop)
    finish(intake, page)
    await wait_until_async(lambda: intake.stats.buried == 1)
    [letter] = await shop.frontier.dead.find(limit=10)
    assert letter.reason == "sink"
    assert "no such column" in letter.error


async def test_many_pages_share_a_put(shop: Workshop) -> None:
    intake = await shop.open()
    await shop.job()
    await shop.add(*(f"https://www.site{n}.com/" for n in range(30)))
    for page in await take(open_lane(intake), 30):
        finish(intake, page)
    await wait_until_async(lambda: intake.stats.settled == 30)
    assert shop.sink.puts == [30]


async def test_a_figure_that_cannot_be_counted_costs_nobody_else_anything(shop: Workshop) -> None:
    intake = await shop.open()
    await shop.job()
    await shop.add(*urls("a.com", 3))
    pages = await take(open_lane(intake), 3)
    finish(intake, pages[0], figures={"dn": 7})
    for page in pages[1:]:
        finish(intake, page, figures={"bytes": 5})
    await wait_until_async(lambda: intake.stats.settled == 3)
    stats = await shop.stats()
    assert (stats.done, stats.figures["bytes"]) == (3, 10)


async def test_twenty_thousand_children_in_chunks_and_their_repeats_are_counted_once(
    shop: Workshop,
) -> None:
    intake = await shop.open()
    await shop.job()
    await shop.frontier.add([Request.start("j")])
    lane = open_lane(intake, room=1)
    [page] = await take(lane)
    await lane.close()

    def children() -> list[Request]:
        plain = [Request("j", f"https://www.site{n % 50}.com/{n}") for n in range(19_000)]
        polls = [Request("j", "https://a.com/poll", dont_filter=True) for _ in range(1_000)]
        mixed = plain + polls
        return mixed[::2] + mixed[1::2]

    await intake.add_children(page, children()[:-1])
    stats = await shop.stats()
    assert stats.accepted == 20_000
    page.children = children()[-1:]
    intake.settle(page, page_given=False)
    await wait_until_async(lambda: intake.stats.settled == 1)
    assert (await shop.stats()).accepted == 20_001
    # The same start() once more, as after a crash: nothing of it is new.
    met: dict[int, int] = {}
    for first in range(0, 20_000, 700):
        some = children()[first : first + 700]
        added = await shop.frontier.add(some, parent=page.request, met=met)
        assert added.known == len(some)


async def test_a_page_with_very_many_outputs_hands_them_on_early(shop: Workshop) -> None:
    intake, page = await one_page(shop)
    for n in range(1_200):
        page.children.append(Request("j", f"https://b.org/{n}"))
        page.items.append(item_of(page, n=n))
        await intake.room(page)
    assert (len(page.children), len(page.items)) == (200, 200)
    assert (await shop.stats()).accepted == 1_001
    intake.settle(page, page_given=True)
    await wait_until_async(lambda: intake.stats.settled == 1)
    assert (await shop.stats()).accepted == 1_201
    assert len(shop.sink.items) == 1_200


@pytest.mark.parametrize("outcome", ["retry", "bury"])
async def test_outcomes_are_counted(shop: Workshop, outcome: Any) -> None:
    intake, page = await one_page(shop)
    intake.settle(page, outcome, page_given=False, reason="http 500", retry_ms=60_000)
    intake.settle(page, page_given=True)  # the first word counts
    await wait_until_async(lambda: intake.stats.settled == 1)
    stats = await shop.stats()
    assert (stats.delayed, stats.buried) == ((1, 0) if outcome == "retry" else (0, 1))
    assert (intake.stats.retried, intake.stats.buried) == (stats.delayed, stats.buried)


async def test_lanes_get_their_own_work_in_one_call(shop: Workshop) -> None:
    intake = await shop.open()
    await shop.job("one", args={"x": "1"})
    await shop.job("two", args={"x": "2"})
    await shop.add(*urls("a.com", 3), job="one")
    await shop.add(*urls("b.org", 3), job="two")
    records = [await shop.frontier.jobs.record(name) for name in ("one", "two")]
    lanes = [open_lane(intake, lane=record.job.lane) for record in records]
    for lane, name in zip(lanes, ("one", "two"), strict=True):
        assert {page.request.job for page in await take(lane, 3)} == {name}
    assert LANE not in {lane.name for lane in lanes}
    with pytest.raises(ValueError, match="open already"):
        open_lane(intake, lane=lanes[0].name)
