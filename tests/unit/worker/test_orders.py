from __future__ import annotations

from pathlib import Path

import pytest

from skitter.errors import NoSpiders, SettingsError
from skitter.settings import EmbeddedSettings, RedisSettings, Settings
from skitter.worker.orders import Orders, Restriction, parse_shards
from skitter.worker.run import find_project

pytestmark = pytest.mark.unit


def test_orders_survive_the_pipe_secrets_included() -> None:
    settings = Settings(
        redis=RedisSettings(url="redis://:hunter2@h:1"), embedded=EmbeddedSettings(dir=Path("x"))
    )
    orders = Orders(
        name="w.1",
        parent=7,
        settings=settings,
        modules=("a.b",),
        restriction=Restriction(only=("s",), shards=(1, 2)),
    )
    line = orders.line()
    assert line.count(b"\n") == 1
    assert Orders.model_validate_json(line) == orders


def test_shards_as_people_write_them() -> None:
    assert parse_shards("") == ()
    assert parse_shards("0-3") == (0, 1, 2, 3)
    assert parse_shards("5, 0,2-3,3") == (0, 2, 3, 5)


@pytest.mark.parametrize("text", ["x", "3-1", "-1", "0-9999", "1-2-3"])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="--shards"):
        parse_shards(text)


def test_a_restriction_by_spider() -> None:
    assert Restriction().takes("any")
    assert Restriction(only=("a",)).takes("a")
    assert not Restriction(only=("a",)).takes("b")


def test_a_project_is_found_from_a_folder_inside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SCRAPY_SETTINGS_MODULE", raising=False)
    with pytest.raises(NoSpiders, match=r"scrapy\.cfg"):
        find_project(tmp_path)
    (tmp_path / "scrapy.cfg").touch()
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert find_project(inner) == tmp_path / "scrapy.cfg"
