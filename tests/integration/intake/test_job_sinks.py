"""Items go where their jobs say; a job's sinks are opened late, few, and closed when idle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skitter.errors import SinkError
from skitter.intake.job_sinks import JobSinks
from skitter.sinks import Item, read_items
from tests.integration.intake.engine import MemorySink
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.intake.conftest import Workshop


def item(job: str, number: int) -> Item:
    return Item(f"{job}{number}", job, "s", "https://a.example/", "k", {"n": number}, "w", {})


def stored(place: str, job: str) -> list[int]:
    return sorted(found.data["n"] for found in read_items(place, job=job))


async def test_items_go_where_their_jobs_say(shop: Workshop, tmp_path: Path) -> None:
    await shop.connect("w1")
    first, second = f"sqlite:{tmp_path}/one.db", f"jsonl:{tmp_path}/two"
    await shop.job("plain")
    await shop.job("one", sinks=(first,))
    await shop.job("both", sinks=(first, second))
    usual = MemorySink()
    sinks = JobSinks(usual, shop.frontier.jobs)
    await sinks.open()
    jobs = ("plain", "one", "both", "unknown")
    await sinks.put([item(job, number) for number in range(3) for job in jobs])
    await sinks.put([item("plain", 9)])
    await sinks.close()
    assert sorted(found.job for found in usual.items.values()) == ["plain"] * 4 + ["unknown"] * 3
    assert stored(first, "one") == stored(first, "both") == stored(second, "both") == [0, 1, 2]
    assert stored(second, "one") == []


async def test_a_sink_that_cannot_be_used_fails_only_its_own(
    shop: Workshop, tmp_path: Path
) -> None:
    await shop.connect("w1")
    (tmp_path / "file").touch()
    await shop.job("good", sinks=(f"sqlite:{tmp_path}/good.db",))
    await shop.job("bad", sinks=(f"sqlite:{tmp_path}/file/bad.db",))
    sinks = JobSinks(MemorySink(), shop.frontier.jobs)
    await sinks.open()
    with pytest.raises(SinkError, match=r"bad\.db"):
        await sinks.put([item("bad", 1), item("good", 1)])
    await sinks.put([item("good", 2)])
    assert stored(f"sqlite:{tmp_path}/good.db", "good") == [1, 2]
    (tmp_path / "file").unlink()
    await sinks.put([item("bad", 1)])
    assert stored(f"sqlite:{tmp_path}/file/bad.db", "bad") == [1]
    await sinks.close()


async def test_few_are_open_at_once_and_idle_ones_are_closed(
    shop: Workshop, tmp_path: Path
) -> None:
    await shop.connect("w1")
    sinks = JobSinks(MemorySink(), shop.frontier.jobs, most=3, idle_s=0.2)
    await sinks.open()
    for number in range(6):
        await shop.job(f"j{number}", sinks=(f"sqlite:{tmp_path}/{number}.db",))
        await sinks.put([item(f"j{number}", number)])
        assert len(sinks._members) <= 3
    await wait_until_async(lambda: not sinks._members, what="idle sinks are closed")
    await sinks.put([item("j0", 7)])
    await sinks.close()
    assert stored(f"sqlite:{tmp_path}/0.db", "j0") == [0, 7]
