from __future__ import annotations

import asyncio
from itertools import count
from typing import TYPE_CHECKING

import pytest

from skitter.worker.supervisor import Plan, Supervisor
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.unit


class Doll:
    """A child without a process. It leaves when it is told to, unless it is deaf."""

    pids = count(1000)

    def __init__(self, name: str, *, deaf: bool = False, ready: bool = True) -> None:
        self.name = name
        self.pid = next(self.pids)
        self.ready = ready
        self.leaving = False
        self.lived_s = 60.0
        self.silent_s = 0.0
        self.bytes: int | None = None
        self.code: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._deaf = deaf

    @property
    def alive(self) -> bool:
        return not self.code.done()

    def memory(self) -> int | None:
        return self.bytes

    def drain(self) -> None:
        self.leaving = True
        if not self._deaf:
            self.end(0)

    def kill(self) -> None:
        self.leaving = True
        self.end(-9)

    def end(self, code: int) -> None:
        if self.alive:
            self.code.set_result(code)

    async def wait(self) -> int:
        return await asyncio.shield(self.code)


class House:
    """A supervisor, its dolls, and whom it buried."""

    def __init__(self) -> None:
        self.dolls: list[Doll] = []
        self.buried: list[str] = []
        self.deaf = False
        self.ready = True
        self.broken = False
        self.running: asyncio.Task[int]
        self.supervisor: Supervisor

    def open(self, **plan: float) -> None:
        fields = {"name": "w", "processes": 2, "grace_s": 5.0} | plan
        self.supervisor = Supervisor(Plan(**fields), start=self._start, bury=self._bury)  # type: ignore[arg-type]
        self.running = asyncio.create_task(self.supervisor.run())

    async def _start(self, name: str) -> Doll:
        if self.broken:
            raise OSError("no process left")
        self.dolls.append(Doll(name, deaf=self.deaf, ready=self.ready))
        return self.dolls[-1]

    async def _bury(self, name: str) -> None:
        self.buried.append(name)

    @property
    def alive(self) -> list[str]:
        return [doll.name for doll in self.dolls if doll.alive]

    async def until(self, *names: str) -> None:
        await wait_until_async(lambda: self.alive == list(names), what=f"children are {names}")


@pytest.fixture
async def house() -> AsyncIterator[House]:
    house = House()
    yield house
    house.running.cancel()
    await asyncio.gather(house.running, return_exceptions=True)


async def test_what_dies_is_buried_and_replaced_under_a_new_name(house: House) -> None:
    house.open()
    await house.until("w.1", "w.2")
    house.dolls[0].end(-9)
    await house.until("w.2", "w.3")
    assert house.buried == ["w.1"]


async def test_a_signal_drains_all_and_the_exit_code_is_0(house: House) -> None:
    house.open()
    await house.until("w.1", "w.2")
    house.supervisor.stop()
    assert await asyncio.wait_for(house.running, 30) == 0
    assert house.alive == []
    assert len(house.dolls) == 2


async def test_what_does_not_leave_within_the_grace_is_killed(house: House) -> None:
    house.deaf = True
    house.open(grace_s=0.2)
    await house.until("w.1", "w.2")
    house.supervisor.stop()
    assert await asyncio.wait_for(house.running, 30) == 1
    assert sorted(house.buried) == ["w.1", "w.2"]


async def test_a_second_signal_ends_at_once(house: House) -> None:
    house.deaf = True
    house.open(grace_s=3600)
    await house.until("w.1", "w.2")
    house.supervisor.stop()
    house.supervisor.stop()
    assert await asyncio.wait_for(house.running, 30) == 1
    assert house.alive == []


async def test_a_child_over_its_memory_is_drained_and_replaced(house: House) -> None:
    house.open(processes=1, memory=1000)
    await house.until("w.1")
    house.dolls[0].bytes = 1000
    house.dolls[0].bytes = 1001
    await house.until("w.2")
    house.supervisor.stop()
    assert await asyncio.wait_for(house.running, 30) == 0


async def test_a_child_that_hangs_is_killed_and_replaced(house: House) -> None:
    house.open(silence_s=5.0)
    await house.until("w.1", "w.2")
    house.dolls[0].silent_s = 4.9
    house.dolls[1].silent_s = 5.1
    await house.until("w.1", "w.3")
    assert house.buried == ["w.2"]


async def test_one_that_is_heard_again_stays(house: House) -> None:
    house.open(processes=1, silence_s=5.0)
    await house.until("w.1")
    looks = house.supervisor._silent
    for _ in range(2):
        house.dolls[0].silent_s = 5.1
        await wait_until_async(lambda: looks["w.1"] == 2)
        house.dolls[0].silent_s = 0.0
        await wait_until_async(lambda: looks["w.1"] == 0)
    assert house.alive == ["w.1"]


async def test_one_that_ignores_it_is_killed(house: House) -> None:
    house.deaf = True
    house.open(processes=1, memory=1000, grace_s=0.1)
    await house.until("w.1")
    house.dolls[0].bytes = 2000
    await house.until("w.2")
    assert await house.dolls[0].wait() == -9


async def test_children_that_never_get_ready_are_given_up(house: House) -> None:
    house.ready = False
    house.open(processes=1, restarts=2)
    for _ in range(3):
        await wait_until_async(lambda: house.alive)
        house.dolls[-1].end(1)
    assert await asyncio.wait_for(house.running, 30) == 1
    assert house.buried == ["w.1", "w.2", "w.3"]


async def test_a_start_that_fails_is_tried_again(house: House) -> None:
    house.broken = True
    house.open(processes=1)
    await asyncio.sleep(0)
    house.broken = False
    await wait_until_async(lambda: house.alive)


async def test_leases_that_cannot_be_given_back_stop_nothing(house: House) -> None:
    async def fail(name: str) -> None:
        raise ConnectionError(name)

    house._bury = fail  # type: ignore[method-assign]
    house.open(processes=1)
    await house.until("w.1")
    house.dolls[0].end(-9)
    await house.until("w.2")


async def test_more_places_and_fewer(house: House) -> None:
    house.open(processes=1)
    await house.until("w.1")
    house.supervisor.scale_to(3)
    await house.until("w.1", "w.2", "w.3")
    assert house.supervisor.places == 3
    house.supervisor.scale_to(1)
    await house.until("w.1")
    await wait_until_async(lambda: sorted(house.buried) == ["w.2", "w.3"])
    assert not house.running.done()


async def test_none_at_all_and_some_again(house: House) -> None:
    house.open(processes=0)
    house.supervisor.scale_to(0)
    house.supervisor.scale_to(2)
    await house.until("w.1", "w.2")
    house.supervisor.scale_to(0)
    await house.until()
    house.supervisor.scale_to(1)
    await house.until("w.3")
    house.supervisor.stop()
    assert await asyncio.wait_for(house.running, 30) == 0


async def test_nobody_at_work_ends_at_a_signal(house: House) -> None:
    house.open(processes=0)
    await asyncio.sleep(0)
    house.supervisor.stop()
    house.supervisor.scale_to(5)
    assert await asyncio.wait_for(house.running, 30) == 0
    assert house.dolls == []


async def test_one_too_many_that_does_not_leave_is_killed(house: House) -> None:
    house.deaf = True
    house.open(processes=2, grace_s=0.2)
    await house.until("w.1", "w.2")
    house.supervisor.scale_to(1)
    await house.until("w.1")
    await wait_until_async(lambda: house.buried == ["w.2"])


async def test_places_that_are_given_up_end_it_even_if_they_came_later(house: House) -> None:
    house.ready = False
    house.open(processes=0, restarts=0)
    house.supervisor.scale_to(1)
    await house.until("w.1")
    house.dolls[0].end(1)
    assert await asyncio.wait_for(house.running, 30) == 1
