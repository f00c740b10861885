"""`skitter quarantine` and `skitter quality`, as a person calls them, on real files."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from skitter.cli.main import app
from skitter.errors import BadGates, NotHeld
from skitter.jobs.submission import Submission
from skitter.orchestrator.finisher import Finisher
from skitter.services import open_services
from skitter.settings import Settings
from skitter.sinks import Item, open_sink, read_items
from skitter.sinks.quarantine import Held, Quarantine

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

pytestmark = pytest.mark.integration

GOOD = {"url": "https://shop.example/1", "name": "Drill", "price": "12.500", "currency": "TND"}
BAD = {"url": "https://shop.example/2", "name": "Saw"}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A sink with two products, and two entries beside them: one is right by today's rules."""
    monkeypatch.chdir(tmp_path)
    url = f"sqlite:{tmp_path}/items.db"
    monkeypatch.setenv("SKITTER_ITEMS__SINK", url)
    stored = [item(f"s{number}", GOOD | {"name": f"n{number}"}) for number in range(2)]
    asyncio.run(_store(url, stored))
    held = [Held(item("aa1", GOOD), "old rule"), Held(item("ab2", BAD), "no price", "price", "?")]
    Quarantine(tmp_path / "items.db").put(held)
    return url


def item(identity: str, data: dict[str, Any]) -> Item:
    return Item(identity, "shop", "ecommerce", data["url"], "Product", dict(data), "w1")


async def _store(url: str, items: list[Item]) -> None:
    sink = open_sink(url)
    await sink.open()
    await sink.put(items)
    await sink.close()


def call(*command: str) -> Result:
    done = CliRunner().invoke(app, list(command))
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def run(*command: str) -> str:
    done = call(*command)
    assert done.exit_code == 0, done.output
    return done.stdout


def listed(*options: str) -> list[str]:
    lines = run("quarantine", "list", "--json", *options).splitlines()
    return [json.loads(line)["id"] for line in lines]


@pytest.mark.usefixtures("place")
def test_what_is_held_is_listed_and_shown() -> None:
    assert listed() == ["aa1", "ab2"]
    assert listed("--job", "other") == []
    assert listed("--spider", "ecommerce", "-n", "1") == ["aa1"]
    shown = call("quarantine", "list")
    assert "no price" in shown.stdout
    assert "2 of 2 shown" in shown.stderr
    people = run("quarantine", "show", "ab")
    assert "no price" in people
    assert "Saw" in people
    lines = run("quarantine", "show", "ab", "aa", "--json").splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["ab2", "aa1"]
    entry = json.loads(lines[0])
    assert (entry["reason"], entry["raw"], entry["data"]) == ("no price", "?", BAD)
    for unclear, count in (("a", 2), ("x", 0)):
        with pytest.raises(NotHeld, match=f"{count} entries"):
            run("quarantine", "show", unclear)


def test_nothing_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert listed() == []
    assert run("quarantine", "check") == "0 would be released, 0 held\n"
    assert not (tmp_path / ".skitter").exists()


def test_a_check_changes_nothing_and_a_release_stores_first(place: str) -> None:
    done = call("quarantine", "check")
    assert (done.exit_code, done.stdout.splitlines()[0]) == (1, "1 would be released, 1 held")
    assert listed() == ["aa1", "ab2"]
    told = json.loads(run("quarantine", "release", "--checked", "--json"))
    assert (told["released"], told["held"]) == (1, 1)
    assert listed() == ["ab2"]
    assert {found.id for found in read_items(place)} == {"s0", "s1", "aa1"}
    assert run("quarantine", "release", "ab2") == "1 released, 0 held\n"
    assert {found.id for found in read_items(place)} == {"s0", "s1", "aa1", "ab2"}
    assert listed() == []


def test_a_schema_is_one_rule_more(place: str, tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text('{"required": ["brand"]}')
    done = call("quarantine", "check", "--schema", str(schema))
    assert done.stdout.splitlines()[0] == "0 would be released, 2 held"
    run("quarantine", "release", "--checked", "--schema", str(schema))
    assert {found.id for found in read_items(place)} == {"s0", "s1"}


@pytest.mark.usefixtures("place")
def test_entries_are_discarded() -> None:
    assert call("quarantine", "discard").exit_code == 2
    assert call("quarantine", "release", "aa1", "--checked").exit_code == 2
    assert run("quarantine", "discard", "aa") == "1 discarded\n"
    discarded = json.loads(run("quarantine", "discard", "--job", "shop", "--json"))
    assert discarded == {"discarded": 1}
    assert listed() == []


@pytest.mark.usefixtures("place")
def test_a_run_passes_its_gates_or_not(tmp_path: Path) -> None:
    gates = tmp_path / "gates.yaml"
    gates.write_text("coverage: {price: 1}\nmost_quarantined: 0.5\ndrift: {price: 0.1}\n")
    good = run("quality", "check", "--job", "shop", "--gates", str(gates), "--json")
    assert json.loads(good)["figures"]["quarantined"] == 2
    assert json.loads(good)["passed"]
    (tmp_path / "good.json").write_text(good.replace("12.5", "24.0"))
    past = ("--past", str(tmp_path / "good.json"))
    bad = call("quality", "check", "--job", "shop", "--gates", str(gates), *past)
    assert (bad.exit_code, bad.stdout.splitlines()[0]) == (
        1,
        "shop: 2 items, 2 in quarantine: gates not passed: 1",
    )
    assert "drift.price" in bad.stdout


def test_a_run_is_held_against_the_good_ones_that_the_store_has(
    place: str, server_url: str, namespace: str, tmp_path: Path
) -> None:
    """With the gates and the arguments of the job, and runs of the same ones alone."""
    settings = Settings.model_validate(
        {
            "redis": {"url": server_url, "namespace": namespace},
            "store": {"url": f"sqlite:{tmp_path}/skitter.db"},
            "items": {"sink": [place]},
        }
    )
    asyncio.run(_run_jobs(settings, place))
    store = ("--set", f"store.url=sqlite:{tmp_path}/skitter.db")
    for job, args, code in (("dear", (), 1), ("fair", (), 0), ("dear", ("--arg", "x=y"), 0)):
        done = call("quality", "check", "--job", job, "--json", *args, *store)
        told = json.loads(done.stdout)
        assert (done.exit_code, told["past_runs"]) == (code, 0 if args else 2), (job, told)
    failed = call("quality", "check", "--job", "dear", *store)
    assert "drift.price" in failed.stdout
    assert "2 past runs" in failed.stderr


async def _run_jobs(settings: Settings, place: str) -> None:
    """Good runs, then one of another kind, then one that is too dear and a fair one."""
    async with open_services(settings) as services:
        finisher = Finisher(services.frontier, services.store, settings)
        for job, price, args in (
            ("one", "10", {}), ("two", "11", {}), ("other", "99", {"a": "b"}),
            ("dear", "99", {}), ("fair", "12", {}),
        ):  # fmt: skip
            found = item(f"{job}-1", GOOD | {"price": price})
            await _store(place, [replace(found, job=job)])
            await services.jobs.submit(
                Submission(
                    spider="ecommerce", id=job, args=args, gates={"drift": {"price": 0.5}},
                    seeds=("https://shop.example/",),
                )
            )  # fmt: skip
            await services.frontier.jobs.stop(job, outcome="finished")
            while not (await services.jobs.show(job)).ended:
                await finisher.tend()


@pytest.mark.usefixtures("place")
def test_gates_of_the_spider(tmp_path: Path) -> None:
    done = call("quality", "check", "--job", "shop", "--gates", "usual", "--json")
    assert [failure["gate"] for failure in json.loads(done.stdout)["failures"]] == [
        "most_quarantined"
    ]
    with pytest.raises(BadGates, match="give --gates"):
        run("quality", "check", "--job", "shop")
    recipe = "name: shop\ngates: {least_items: 3}\npages: {page: {fields: {name: h1}}}\n"
    (tmp_path / "shop.yaml").write_text(recipe)
    arg = f"recipe={tmp_path}/shop.yaml"
    done = call("quality", "check", "--job", "shop", "--arg", arg, "--json")
    assert [failure["gate"] for failure in json.loads(done.stdout)["failures"]] == ["least_items"]
