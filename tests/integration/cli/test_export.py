"""`skitter export`, `skitter items` and `skitter finalise`, as a person calls them."""

from __future__ import annotations

import asyncio
import csv
import json
import subprocess
import sys
from io import StringIO
from typing import TYPE_CHECKING, Any

import openpyxl
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from skitter.cli.main import app
from skitter.errors import BadCondition
from skitter.sinks import Item, identify_by_key, open_sink, shape_of
from skitter.spiders.items import Product

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.integration

BOOKS = [
    {"title": 'Žluťoučký, "kůň"\nand more', "price": 12.5, "tags": ["a", "b"], "stock": True},
    {"title": "本", "price": 7, "offers": [{"price": 1}], "stock": None},
    {"title": "=1+1", "price": 2**60, "half": "\ud800"},
]


@pytest.fixture
def shop(tmp_path: Path) -> str:
    """A sink with three books of one job, and a car of another."""
    url = f"sqlite:{tmp_path}/items.db"
    books = [_item(n, data) for n, data in enumerate(BOOKS)]
    car = Item("car", "cars", "cars", "https://cars.example/", "Car", {"title": "Car"})
    asyncio.run(_store(url, [*books, car]))
    return url


async def _store(url: str, items: list[Item]) -> None:
    sink = open_sink(url)
    await sink.open()
    await sink.put(items)
    await sink.close()


def _item(n: int, data: dict[str, Any]) -> Item:
    return Item(str(n), "books", "books", f"https://books.example/{n}", "Book", data, "w1")


def run(*command: str) -> str:
    done = CliRunner().invoke(app, list(command), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_json_lines_on_stdout(shop: str) -> None:
    lines = [json.loads(line) for line in run("export", "--from", shop).splitlines()]
    assert [line["title"] for line in lines] == [book["title"] for book in BOOKS] + ["Car"]
    assert (lines[0]["_url"], lines[0]["_job"], lines[0]["_worker"]) == (
        "https://books.example/0",
        "books",
        "w1",
    )
    assert lines[0]["_first_seen"] == lines[0]["_last_seen"]
    bare = run("export", "--from", shop, "--job", "books", "--bare")
    assert [json.loads(line) for line in bare.splitlines()] == BOOKS


@pytest.mark.parametrize(
    ("option", "value", "count"),
    [
        ("--job", "books", 3),
        ("--spider", "cars", 1),
        ("--kind", "Book", 3),
        ("--since", "1h", 4),
        ("--since", "2999-01-01", 0),
        ("--until", "2999-01-01", 4),
        ("--until", "1h", 0),
        ("--changed-since", "1h", 4),
        ("--changed-since", "2999-01-01", 0),
        ("--where", "price<10", 1),
        ("--where", "title~car", 1),
        ("--job", "none", 0),
    ],
)
def test_filters(shop: str, option: str, value: str, count: int) -> None:
    assert len(run("export", "--from", shop, option, value).splitlines()) == count


def test_conditions_add_up(shop: str) -> None:
    both = ("--where", "price>1", "--where", "!tags", "--fields", "price")
    lines = run("export", "--from", shop, *both).splitlines()
    assert [json.loads(line) for line in lines] == [{"price": 7}, {"price": 2**60}]
    wrong = CliRunner().invoke(app, ["export", "--from", shop, "--where", "=1"])
    assert isinstance(wrong.exception, BadCondition)


def test_history_of_a_product(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path}/items.db"
    key = ("shop.example", "KB-1")
    name = identify_by_key(key, spider="ecommerce", kind="Product")
    for job, price in (("monday", "10.00"), ("tuesday", "10.00"), ("wednesday", "12.50")):
        item = Item(name, job, "ecommerce", "https://shop.example/1", "Product", {"price": price})
        item.shape = shape_of(Product)
        asyncio.run(_store(url, [item]))
    (line,) = run("history", "ecommerce", *key, "--from", url, "--json").splitlines()
    change = json.loads(line)
    assert (change["job"], change["item"]) == ("wednesday", name)
    assert (change["before"]["price"], change["after"]["price"]) == ("10.00", "12.50")
    for words in ([name], ["--job", "wednesday"], []):
        table = run("history", *words, "--from", url)
        assert "10.00" in table
        assert "12.50" in table
        assert "currency" not in table
    assert run("history", "--job", "tuesday", "--from", url) == ""


def test_fields_may_be_nested(shop: str) -> None:
    fields = ("--fields", "title,offers.0.price,_url", "--job", "books")
    lines = run("export", "--from", shop, *fields).splitlines()
    assert json.loads(lines[1]) == {
        "title": "本",
        "offers.0.price": 1,
        "_url": "https://books.example/1",
    }


def test_json(shop: str, tmp_path: Path) -> None:
    run("export", "--from", shop, "--bare", "--job", "books", str(tmp_path / "a.json"))
    assert json.loads((tmp_path / "a.json").read_text()) == BOOKS
    assert json.loads(run("export", "--from", shop, "--format", "json", "--job", "none")) == []


def test_csv(shop: str, tmp_path: Path) -> None:
    run("export", "--from", shop, "--job", "books", str(tmp_path / "a.csv"))
    text = (tmp_path / "a.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(StringIO(text, newline="")))
    assert [row["title"] for row in rows] == [book["title"] for book in BOOKS]
    assert (rows[0]["tags"], rows[0]["stock"], rows[1]["stock"]) == ('["a","b"]', "true", "")
    assert next(iter(rows[0])) == "title"
    assert rows[2]["_id"] == "2"


def test_parquet(shop: str, tmp_path: Path) -> None:
    run("export", "--from", shop, "--job", "books", str(tmp_path / "a.parquet"))
    table = pq.read_table(tmp_path / "a.parquet")
    assert table.column("title").to_pylist() == [book["title"] for book in BOOKS]
    assert table.column("price").to_pylist() == [12.5, 7.0, float(2**60)]
    assert table.column("stock").to_pylist() == [True, None, None]
    assert json.loads(table.column("offers").to_pylist()[1]) == [{"price": 1}]


def test_xlsx(shop: str, tmp_path: Path) -> None:
    run("export", "--from", shop, "--job", "books", str(tmp_path / "a.xlsx"))
    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx").worksheets[0]
    head, *rows = [list(row) for row in sheet.iter_rows(values_only=True)]
    titles = [row[head.index("title")] for row in rows]
    assert titles == [book["title"] for book in BOOKS]


def test_a_failed_export_leaves_the_old_file(shop: str, tmp_path: Path) -> None:
    out = tmp_path / "a.csv"
    out.write_text("old")
    done = CliRunner().invoke(app, ["export", "--from", f"sqlite:{tmp_path}/none.db", str(out)])
    assert done.exit_code != 0
    assert out.read_text() == "old"
    assert not list(tmp_path.glob("*.part"))
    unknown = CliRunner().invoke(app, ["export", "--from", shop, str(tmp_path / "a.doc")])
    assert "--format" in unknown.output


def test_items_in_a_table_and_for_machines(shop: str) -> None:
    table = run("items", "--from", shop, "--fields", "title,price", "-n", "2")
    assert "12.5" in table
    assert "Car" not in table
    (last,) = run("items", "--from", shop, "--last", "-n", "1", "--json").splitlines()
    assert json.loads(last)["title"] == "Car"


def test_finalise(tmp_path: Path) -> None:
    url = f"csv:{tmp_path}/data"
    asyncio.run(_store(url, [_item(n, data) for n, data in enumerate(BOOKS)]))
    assert run("finalise", "books", "--from", url).startswith("3 items in")
    assert (tmp_path / "data" / "processed" / "books.csv").is_file()


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl", "json"])
def test_what_comes_back_is_what_was_stored(tmp_path: Path, form: str) -> None:
    """Enough items for several groups and pages; every value of every item is compared."""
    url, out = f"sqlite:{tmp_path}/items.db", tmp_path / f"a.{form}"
    stored = [_varied(n) for n in range(7_001)]
    asyncio.run(_store(url, [_item(n, data) for n, data in enumerate(stored)]))
    run("export", "--from", url, "--bare", str(out))
    assert list(_read_back(out)) == stored


def _varied(n: int) -> dict[str, Any]:
    return {
        "name": f'Stühle, "N" {n}\n✓',
        "price": n / 7,
        "stock": n if n % 3 else None,
        "sale": n % 2 == 0,
        "tags": [f"t{n % 5}", {"n": n}],
    }


def _read_back(path: Path) -> Iterator[dict[str, Any]]:
    if path.suffix == ".parquet":
        for row in pq.read_table(path).to_pylist():
            yield row | {"tags": json.loads(row["tags"])}
    elif path.suffix == ".csv":
        text = StringIO(path.read_text(encoding="utf-8"), newline="")
        for line in csv.DictReader(text):
            yield {
                "name": line["name"],
                "price": float(line["price"]),
                "stock": int(line["stock"]) if line["stock"] else None,
                "sale": {"true": True, "false": False}[line["sale"]],
                "tags": json.loads(line["tags"]),
            }
    elif path.suffix == ".json":
        yield from json.loads(path.read_text())
    else:
        yield from map(json.loads, path.read_text().splitlines())


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_memory_does_not_grow_with_the_number_of_items(tmp_path: Path, form: str) -> None:
    """80 MB of items, and nearly the memory of 4 MB."""
    peaks = []
    for count in (250, 5_000):
        url = f"sqlite:{tmp_path}/{count}.db"
        filler = {"text": "x" * 16_000}
        asyncio.run(_store(url, [_item(n, filler | {"n": n}) for n in range(count)]))
        peaks.append(_peak_mb("export", "--from", url, str(tmp_path / f"{count}.{form}")))
    assert peaks[1] - peaks[0] < 60, peaks


def _peak_mb(*command: str) -> float:
    """The most memory that a command took; what getrusage tells is partly its parent's."""
    code = (
        "import sys; from skitter.cli.main import app\n"
        "try: app(sys.argv[1:])\n"
        "finally: print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return int(done.stdout.split()[-1]) / 1024
