"""What is held stays until it is accepted, released or discarded, and is stored before it goes."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from skitter.errors import SinkError
from skitter.sinks.item import Item
from skitter.sinks.quarantine import Held, Quarantine, recheck, release

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

pytestmark = pytest.mark.unit


class Kept:
    """A sink that keeps items in memory, or fails."""

    def __init__(self, *, fails: bool = False) -> None:
        self.items: dict[str, Item] = {}
        self._fails = fails

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def put(self, items: Sequence[Item]) -> None:
        if self._fails:
            raise SinkError(sink="kept", reason="it fails")
        self.items |= {item.id: item for item in items}


def held(number: int, *, job: str = "j", price: Any = None) -> Held:
    data = {"name": f"n{number}", "price": price}
    url = f"https://shop.example/{number}"
    item = Item(f"id{number}", job, "ecommerce", url, "Product", data, "w1", {"team": "a"})
    return Held(item, "price: it is needed", "price", "sur devis")


@pytest.fixture
def quarantine(tmp_path: Path) -> Quarantine:
    return Quarantine(tmp_path / "folder" / "items.db")


def judge(item: Item) -> Mapping[str, Any] | str:
    return item.data if item.data["price"] else "price: it is needed"


def test_what_is_put_is_listed_with_all_that_is_known(quarantine: Quarantine) -> None:
    quarantine.put([held(1), held(2, job="other")])
    assert list(quarantine.entries()) == [held(1), held(2, job="other")]
    assert list(quarantine.entries(job="other")) == [held(2, job="other")]
    assert list(quarantine.entries(spider="finance")) == []


def test_twice_is_once(quarantine: Quarantine) -> None:
    quarantine.put([held(1)])
    quarantine.put([held(1, price="x")])
    assert list(quarantine.entries()) == [held(1, price="x")]


def test_any_number_is_listed(quarantine: Quarantine) -> None:
    quarantine.put([held(number) for number in range(1203)])
    assert [entry.item.id for entry in quarantine.entries()] == [f"id{n}" for n in range(1203)]
    assert quarantine.count() == 1203


async def test_what_is_accepted_now_goes_to_the_sink(quarantine: Quarantine) -> None:
    quarantine.put([held(1), held(2, price=Decimal("12.500")), held(3)])
    sink = Kept()
    done = await recheck(quarantine, judge, sink)
    assert (done.released, done.held, done.reasons) == (1, 2, {"price: it is needed": 2})
    assert sink.items["id2"].data == {"name": "n2", "price": "12.500"}
    assert [entry.item.id for entry in quarantine.entries()] == ["id1", "id3"]


async def test_nothing_leaves_before_it_is_stored(quarantine: Quarantine) -> None:
    quarantine.put([held(1)])
    with pytest.raises(SinkError):
        await release(quarantine, [held(1)], Kept(fails=True))
    assert quarantine.count() == 1


async def test_an_entry_is_released_as_it_is(quarantine: Quarantine) -> None:
    quarantine.put([held(1), held(2)])
    sink = Kept()
    await release(quarantine, [held(1)], sink)
    assert sink.items == {"id1": held(1).item}
    assert quarantine.discard(["id2", "unknown"]) == 1
    assert quarantine.count() == 0


def test_a_file_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "items.db").write_text("no database, but long enough to be looked at as one" * 9)
    with pytest.raises(SinkError, match="quarantine"):
        Quarantine(tmp_path / "items.db").put([held(1)])
