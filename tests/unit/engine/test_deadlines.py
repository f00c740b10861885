"""Bounds on time: what is late is ended, what is not is left alone, and notes do not pile up."""

from __future__ import annotations

import asyncio

import pytest

from skitter.engine.deadlines import SPARE, Deadlines

SOON_S, LATER_S = 0.01, 30.0


async def wait_for_ever(deadlines: Deadlines, seconds: float) -> None:
    with deadlines.within(seconds):
        await asyncio.Event().wait()


async def test_what_takes_too_long_is_ended() -> None:
    with pytest.raises(TimeoutError):
        await wait_for_ever(Deadlines(), SOON_S)


async def test_what_is_done_in_time_is_left_alone() -> None:
    deadlines = Deadlines()
    with deadlines.within(SOON_S):
        pass
    with pytest.raises(TimeoutError):  # it ends when the first one would have ended, or later
        await wait_for_ever(deadlines, SOON_S)


async def test_an_earlier_deadline_does_not_wait_for_a_later_one() -> None:
    deadlines = Deadlines()
    late = asyncio.create_task(wait_for_ever(deadlines, LATER_S))
    with pytest.raises(TimeoutError):
        await wait_for_ever(deadlines, SOON_S)
    assert not late.done()
    late.cancel()


async def test_each_block_has_its_own_time() -> None:
    deadlines = Deadlines()
    ended = await asyncio.gather(
        *(wait_for_ever(deadlines, SOON_S * (1 + number % 3)) for number in range(30)),
        return_exceptions=True,
    )
    assert {type(one) for one in ended} == {TimeoutError}


async def test_none_is_for_ever() -> None:
    deadlines = Deadlines()
    waiting = asyncio.create_task(wait_for_ever(deadlines, 0))
    with pytest.raises(TimeoutError):
        await wait_for_ever(deadlines, SOON_S)
    assert not waiting.done()
    waiting.cancel()


async def test_a_task_that_somebody_cancels_is_cancelled() -> None:
    waiting = asyncio.create_task(wait_for_ever(Deadlines(), LATER_S))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_time_stands_still_while_it_is_halted() -> None:
    halted: list[bool] = []

    async def halt_and_wait() -> None:
        with Deadlines().within(SOON_S) as deadline:
            deadline.halt()
            with pytest.raises(TimeoutError):
                await wait_for_ever(Deadlines(), 3 * SOON_S)
            halted.append(True)
            deadline.go_on()
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        await halt_and_wait()
    assert halted


async def test_notes_of_what_is_over_do_not_pile_up() -> None:
    deadlines = Deadlines()
    for _ in range(3 * SPARE):
        with deadlines.within(LATER_S):
            pass
    assert len(deadlines) <= SPARE
    deadlines.close()
