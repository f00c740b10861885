"""The same questions to a short and to a long history, in turn: what each costs."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bench.history.usage import Usage
    from skitter.frontier import Frontier
    from skitter.jobs.service import Jobs

    Question = Callable[["Subject"], Awaitable[Any]]

AT_ONCE = 10
FEW = 10  # there are as many in the short history, so that both fill the page


@dataclass
class Subject:
    """A history, with jobs that live beside it."""

    jobs: Jobs
    frontier: Frontier
    ids: list[str]
    live: list[str]
    deep: str = ""
    times_ms: dict[str, list[float]] = field(default_factory=dict)
    cpu_s: dict[str, float] = field(default_factory=dict)


async def _status(subject: Subject) -> None:
    await subject.jobs.totals()
    await subject.frontier.stats.frontier()
    await subject.jobs.list(state="running", limit=10)


QUESTIONS: dict[str, Question] = {
    "list": lambda on: on.jobs.list(),
    "list_deep": lambda on: on.jobs.list(after=on.deep),
    "list_state": lambda on: on.jobs.list(state="ended"),
    "list_live": lambda on: on.jobs.list(state="queued"),
    "list_outcome": lambda on: on.jobs.list(outcome="failed"),
    "list_spider": lambda on: on.jobs.list(spider="spider7"),
    "list_project": lambda on: on.jobs.list(project="project3"),
    "list_project_outcome": lambda on: on.jobs.list(
        project="project3", outcome="cancelled", limit=FEW
    ),
    "list_label": lambda on: on.jobs.list(label=("team", "team3")),
    "list_text": lambda on: on.jobs.list(text="spider7 tn", limit=FEW),
    "list_text_rare": lambda on: on.jobs.list(text=on.ids[len(on.ids) // 2]),
    "list_nothing": lambda on: on.jobs.list(spider="nobody"),
    "show_ended": lambda on: on.jobs.show(on.ids[len(on.ids) // 3]),
    "show_live": lambda on: on.jobs.show(on.live[0]),
    "count": lambda on: on.jobs.count(outcome="failed"),
    "totals": lambda on: on.jobs.totals(),
    "status": _status,
}


async def ask_in_turn(subjects: dict[str, Subject], *, rounds: int, usage: Usage) -> None:
    """Each question a few times to one, then to the other, round by round."""
    for name, question in QUESTIONS.items():
        for subject in subjects.values():  # the first answer reads from the disk
            await question(subject)
        for _ in range(rounds):
            for subject in subjects.values():
                await _ask(name, question, subject, usage)


async def _ask(name: str, question: Question, subject: Subject, usage: Usage) -> None:
    before = usage.cpu_s()
    times = []
    for _ in range(AT_ONCE):
        begun = time.perf_counter()
        await question(subject)
        times.append((time.perf_counter() - begun) * 1000)
    subject.cpu_s[name] = subject.cpu_s.get(name, 0.0) + usage.cpu_s() - before
    subject.times_ms.setdefault(name, []).append(median(times))
