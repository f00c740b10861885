"""No change without a line, no secret in a line; answers that are kept are kept for one owner."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from skitter.access import Audit, Principal, Role
from skitter.api.answers import ABANDONED_MS, Answers, Kept
from skitter.compat.scrapy_cluster.counts import FeedCounts
from skitter.compat.scrapy_cluster.polls import PollAnswers
from skitter.compat.scrapy_cluster.reading import read_message

if TYPE_CHECKING:
    from skitter.store import Store

WHO = Principal("ab3k", "nightly", Role.OPERATOR, "shop")


class Clock:
    def __init__(self) -> None:
        self.now_s = 1_793_866_500.0

    def __call__(self) -> float:
        return self.now_s


async def test_a_change_that_was_cut_off_has_a_line_without_a_status(store: Store) -> None:
    audit = Audit(store)
    await audit.begin(WHO, "POST /api/v1/jobs", address="127.0.0.1", request_id="r1")
    done = await audit.begin(WHO, "DELETE /api/v1/jobs/books")
    await audit.finish(done, status=204)
    newest, oldest = await audit.list()
    assert (newest.action, newest.status) == ("DELETE /api/v1/jobs/books", 204)
    assert (oldest.action, oldest.status, oldest.key_id) == ("POST /api/v1/jobs", None, "ab3k")
    assert (oldest.role, oldest.project, oldest.request_id) == ("operator", "shop", "r1")


async def test_secrets_in_details_are_masked_and_long_ones_cut(store: Store) -> None:
    audit = Audit(store)
    line = await audit.begin(WHO, "POST /api/v1/jobs")
    detail = {"on_end": [{"options": {"secret": "hunter2"}}], "attrs": {"text": "x" * 10_000}}
    await audit.finish(line, status=201, detail=detail)
    (entry,) = await audit.list()
    assert entry.detail
    assert "hunter2" not in entry.detail
    assert len(entry.detail) < 5_000


async def test_lines_are_paged_filtered_and_pruned(store: Store) -> None:
    clock = Clock()
    audit = Audit(store, now=clock)
    for number in range(5):
        who = Principal(f"key{number % 2}", "n", Role.ADMIN)
        await audit.begin(who, f"POST /{number}")
        clock.now_s += 1
    first = await audit.list(limit=2)
    rest = await audit.list(after=first[-1].id, limit=10)
    assert [entry.action for entry in first + rest] == [f"POST /{n}" for n in (4, 3, 2, 1, 0)]
    assert [entry.action for entry in await audit.list(key="key1")] == ["POST /3", "POST /1"]
    middle_ms = int((clock.now_s - 3) * 1000)
    assert len(await audit.list(since_ms=middle_ms)) == 3
    assert await audit.prune(before_ms=middle_ms, limit=1) == 1
    assert await audit.prune(before_ms=middle_ms) == 1
    assert len(await audit.list()) == 3


async def test_of_two_with_one_name_one_is_the_first(store: Store) -> None:
    answers = Answers(store, keep_s=60)
    begun = await asyncio.gather(*(answers.begin("k", "n") for _ in range(5)))
    assert begun.count(None) == 1
    assert [kept.digest for kept in begun if kept] == [None] * 4
    assert await answers.begin("other", "n") is None  # another key's names are its own
    kept = Kept("d", 201, [("content-type", "application/json")], b"{}")
    await answers.keep("k", "n", kept)
    assert await answers.begin("k", "n") == kept
    await answers.forget("k", "n")
    assert await answers.begin("k", "n") is None


async def test_answers_are_kept_for_a_time_and_dead_requests_given_up(store: Store) -> None:
    clock = Clock()
    answers = Answers(store, keep_s=600, now=clock)
    await answers.begin("k", "done")
    await answers.keep("k", "done", Kept("d", 200, (), b""))
    await answers.begin("k", "died")
    clock.now_s += ABANDONED_MS / 1000 + 1
    assert await answers.begin("k", "died") is None
    assert await answers.begin("k", "done") is not None
    clock.now_s += 600
    assert await answers.begin("k", "done") is None


async def test_a_poll_is_answered_once_and_to_its_owner(store: Store) -> None:
    polls = PollAnswers(store)
    await polls.put("k", "u1", {"total": 1})
    await polls.put("k", "u1", {"total": 2})
    assert await polls.take("other", "u1") is None
    assert await polls.take("k", "u1") == {"total": 2}
    assert await polls.take("k", "u1") is None


async def test_messages_are_counted_in_windows(store: Store) -> None:
    clock = Clock()
    counts = FeedCounts(store, now=clock)
    info = read_message({"action": "info", "appid": "a", "spiderid": "link", "uuid": "u"})
    await counts.count(info)
    clock.now_s += 4_000
    await counts.count(info)
    await counts.count_failure()
    found = await counts.windows()
    assert found["fed:total"] == {
        "900": 2, "3600": 2, "21600": 3, "43200": 3, "86400": 3, "604800": 3, "lifetime": 3
    }  # fmt: skip
    assert found["fed:ActionHandler"]["lifetime"] == 2
    assert found["acted:InfoMonitor"]["900"] == 1
    clock.now_s += 700_000
    await counts.count_failure()
    assert (await counts.windows())["fed:ActionHandler"] == {"lifetime": 2}
