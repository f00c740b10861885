"""Several sinks at once: all of them get everything, and one that fails holds the put back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skitter.errors import SinkError, SinkRefused
from skitter.settings import load_settings
from skitter.sinks import open_sink
from skitter.sinks.together import Together
from tests.contract.sinks.items import ids, make_item

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from skitter.sinks import Item

AWAY = SinkError(sink="b", reason="away")
NEVER = SinkRefused(sink="b", reason="never")


class Shelf:
    """A sink in memory that raises what it is told to."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.puts: list[list[str]] = []
        self.is_open = False

    async def open(self) -> None:
        self.is_open = True

    async def put(self, items: Sequence[Item]) -> None:
        if self.errors:
            raise self.errors.pop(0)
        self.puts.append([item.id for item in items])

    async def close(self) -> None:
        self.is_open = False


async def test_every_sink_gets_every_item(tmp_path: Path) -> None:
    urls = [f"sqlite:{tmp_path}/items.db", f"jsonl:{tmp_path}/data"]
    sink = open_sink(urls)
    await sink.open()
    await sink.put([make_item("a"), make_item("b")])
    await sink.close()
    assert [ids(url) for url in urls] == [["a", "b"], ["a", "b"]]


async def test_a_sink_that_is_away_holds_the_put_back_and_the_others_are_not_asked_twice() -> None:
    good, bad = Shelf(), Shelf(AWAY, AWAY)
    sink = Together({"a": good, "b": bad})
    items = [make_item("1"), make_item("2")]
    for _ in range(2):
        with pytest.raises(SinkError, match="away"):
            await sink.put(items)
    await sink.put(items)
    assert bad.puts == [["1", "2"]]
    assert [put for put in good.puts if put] == [["1", "2"]]


async def test_a_page_that_is_replayed_meanwhile_is_stored_again() -> None:
    good, bad = Shelf(), Shelf(AWAY)
    sink = Together({"a": good, "b": bad})
    with pytest.raises(SinkError):
        await sink.put([make_item("1", price=1)])
    await sink.put([make_item("1", price=2)])
    assert good.puts == [["1"], ["1"]]


async def test_what_one_refuses_the_others_have() -> None:
    good, bad = Shelf(), Shelf(NEVER)
    with pytest.raises(SinkRefused, match="never"):
        await Together({"a": good, "b": bad}).put([make_item("1")])
    assert good.puts == [["1"]]


async def test_one_that_may_yet_take_them_is_waited_for() -> None:
    sink = Together({"a": Shelf(AWAY), "b": Shelf(NEVER)})
    with pytest.raises(SinkError) as caught:
        await sink.put([make_item("1")])
    assert caught.value is AWAY


async def test_one_that_cannot_be_opened_closes_the_others(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    good = Shelf()
    sink = Together({"a": good, "b": open_sink(f"jsonl:{tmp_path}/file")})
    with pytest.raises(SinkError):
        await sink.open()
    assert not good.is_open


@pytest.mark.parametrize(
    "given",
    [
        ["sqlite:my items.db", "mongodb://h1,h2:27017/db"],
        "sqlite:my items.db mongodb://h1,h2:27017/db",
    ],
)
def test_the_setting_is_a_list(given: object) -> None:
    settings = load_settings({"items.sink": given})
    assert settings.items.sink == ("sqlite:my items.db", "mongodb://h1,h2:27017/db")


def test_common_names_of_databases_are_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONGODB_URI", "mongodb://u:p@h1,h2/?w=1")
    monkeypatch.setenv("DATABASE_NAME", "shop")
    monkeypatch.setenv("POSTGRES_HOST", "db")
    monkeypatch.setenv("POSTGRES_USER", "me")
    monkeypatch.setenv("POSTGRES_PASSWORD", "a/b")
    assert load_settings().items.sink == (
        "mongodb://u:p@h1,h2/shop?w=1",
        "postgresql://me:a%2Fb@db/me",
    )
    assert load_settings({"items.sink": "jsonl:data"}).items.sink == ("jsonl:data",)
