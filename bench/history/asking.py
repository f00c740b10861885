"""The same questions to a short and to a long history, in turn: what each costs."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bench.history.making import BEGUN

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bench.history.usage import Usage
    from skitter.frontier import Frontier
    from skitter.jobs.service import Jobs

    Question = Callable[["Subject"], Awaitable[Any]]

AT_ONCE = 10
FEW = 10


@dataclass
class Subject:
    """A history, with jobs that live beside it."""

    jobs: Jobs
    frontier: Frontier
    ids: list[str]
    live: list[str]
    deep: str = ""
    times_ms: dict[str, list[float]] = field(default_factory=dict)
    cpu_ms: dict[str, list[float]] = field(default_factory=dict)


async def _status(subject: Subject) -> None:
    await subject.jobs.totals()
    await subject.frontier.stats.frontier()
    await subject.jobs.list(state="running", limit=10)


def _listing(limit: int = 50, **filters: Any) -> Question:
    return lambda on: on.jobs.list(limit=limit, **filters)


def _counting(**filters: Any) -> Question:
    return lambda on: on.jobs.count(**filters)


TEAM, RARE_LABEL, NO_LABEL = ("team", "team3"), ("batch", "b77"), ("team", "nobody")
TIMES: dict[str, Any] = {"since": BEGUN + timedelta(days=100), "until": BEGUN + timedelta(days=200)}
RECENT: dict[str, Any] = {"since": BEGUN + timedelta(days=200)}
RARE: dict[str, Any] = {"project": "project3", "spider": "spider7", "outcome": "cancelled"}

# Limits are such that there are as many in the short history: both fill the page, or neither does.
QUESTIONS: dict[str, Question] = {
    "list": _listing(),
    "list_deep": lambda on: on.jobs.list(after=on.deep),
    "list_state": _listing(state="ended"),
    "list_live": _listing(state="queued"),
    "list_outcome": _listing(outcome="failed"),
    "list_outcome_deep": lambda on: on.jobs.list(after=on.deep, outcome="failed", limit=FEW),
    "list_spider": _listing(spider="spider7"),
    "list_spider_deep": lambda on: on.jobs.list(after=on.deep, spider="spider7", limit=FEW),
    "list_project": _listing(project="project3"),
    "list_times": _listing(**TIMES),
    "list_label": _listing(label=TEAM),
    "list_label_deep": lambda on: on.jobs.list(after=on.deep, label=TEAM, limit=FEW),
    "list_label_rare": _listing(label=RARE_LABEL, limit=5),
    "list_text": _listing(text="spider7 tn", limit=FEW),
    "list_text_common": _listing(text="tn example", limit=FEW),
    "list_text_rare": lambda on: on.jobs.list(text=on.ids[len(on.ids) // 2]),
    "list_project_outcome": _listing(project="project3", outcome="cancelled", limit=FEW),
    "list_spider_outcome": _listing(spider="spider7", outcome="cancelled", limit=3),
    "list_spider_times": _listing(spider="spider7", **TIMES, limit=FEW),
    "list_project_spider": _listing(project="project3", spider="spider7", limit=FEW),
    "list_ended_spider": _listing(state="ended", spider="spider7"),
    "list_live_spider": _listing(state="queued", spider="spider7"),
    "list_live_label": _listing(state="queued", label=TEAM),
    "list_label_project": _listing(label=TEAM, project="project3", limit=FEW),
    "list_label_outcome": _listing(label=TEAM, outcome="cancelled", limit=5),
    "list_label_times": _listing(label=TEAM, **TIMES, limit=FEW),
    "list_rare_together": _listing(**RARE, limit=1),
    "list_rare_words": _listing(label=TEAM, text="b77 tn", limit=1),
    "list_rare_words_outcome": _listing(label=TEAM, text="spider7", outcome="failed", limit=1),
    "list_nothing": _listing(spider="nobody"),
    "list_nothing_outcome": _listing(outcome="expired"),
    "list_nothing_together": _listing(spider="spider7", outcome="expired"),
    "list_nothing_label": _listing(label=NO_LABEL),
    "list_nothing_label_together": _listing(label=TEAM, spider="nobody"),
    "list_nothing_words": _listing(text="spider7 spider8"),
    "list_nothing_times": _listing(spider="spider7", since=BEGUN + timedelta(days=400)),
    "show_ended": lambda on: on.jobs.show(on.ids[len(on.ids) // 3]),
    "show_live": lambda on: on.jobs.show(on.live[0]),
    "count": _counting(),
    "count_outcome": _counting(outcome="failed"),
    "count_spider": _counting(spider="spider7"),
    "count_spider_outcome": _counting(spider="spider7", outcome="failed"),
    "count_times": _counting(**TIMES),
    "count_spider_times": _counting(spider="spider7", **RECENT),
    "count_label": _counting(label=TEAM),
    "count_label_outcome": _counting(label=TEAM, outcome="failed"),
    "count_text": _counting(text="spider7 tn"),
    "totals": lambda on: on.jobs.totals(),
    "status": _status,
}


async def ask_in_turn(
    subjects: dict[str, Subject], questions: dict[str, Question], *, rounds: int, usage: Usage
) -> None:
    """Each question a few times to one, then to the other, round by round."""
    for name, question in questions.items():
        for subject in subjects.values():  # the first answer reads from the disk
            await question(subject)
        usage.find()
        for _ in range(rounds):
            for subject in subjects.values():
                await _ask(name, question, subject, usage)


async def _ask(name: str, question: Question, subject: Subject, usage: Usage) -> None:
    before, begun = usage.cpu_s(), time.perf_counter()
    for _ in range(AT_ONCE):
        await question(subject)
    took_s, used_s = time.perf_counter() - begun, usage.cpu_s() - before
    subject.times_ms.setdefault(name, []).append(took_s * 1000 / AT_ONCE)
    subject.cpu_ms.setdefault(name, []).append(used_s * 1000 / AT_ONCE)
