"""`skitter jobs`: from a submission to its end, and what can be done in between."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skitter.frontier import Caretaker

if TYPE_CHECKING:
    from skitter.frontier import Frontier
    from tests.integration.cli.commands import Commands


@pytest.fixture(autouse=True)
def own_store(commands: Commands, tmp_path: Path) -> None:
    commands.flags["store.url"] = f"sqlite:{tmp_path / 'skitter.db'}"


def submit(commands: Commands, *args: str) -> dict[str, Any]:
    ran = commands.run("jobs", "submit", *args, "--json")
    assert ran.code == 0, ran.error or ran.stderr
    found: dict[str, Any] = ran.json
    return found


def finish(commands: Commands, job: str, outcome: str = "finished") -> None:
    async def end(frontier: Frontier) -> None:
        await frontier.jobs.stop(job, outcome=outcome)  # type: ignore[arg-type]

    commands.ask(end)


def test_a_job_is_submitted_with_all_that_was_said(commands: Commands) -> None:
    job = submit(
        commands, "books", "http://a.lab/1", "http://a.lab/2", "--id", "b1", "-a", "x=1",
        "--max-pages", "7", "--expires", "2h", "--domain", "A.lab", "--deny", "/private",
        "--label", "team=red", "--attr", "level=3", "--priority", "5",
    )  # fmt: skip
    assert (job["id"], job["state"], job["figures"]["queued"]) == ("b1", "queued", 2)
    said = job["submission"]
    assert said["args"] == {"x": "1"}
    assert said["max_pages"] == 7
    assert said["expires_s"] == 7200
    assert said["scope"]["allowed_domains"] == ["a.lab"]
    assert said["scope"]["deny"] == ["/private"]
    assert job["labels"] == {"team": "red"}
    assert job["attrs"] == {"level": 3}
    shown = commands.run("jobs", "show", "b1").stdout
    assert "team=red" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_a_file_says_it_all(commands: Commands) -> None:
    Path("job.yaml").write_text("spider: books\nid: f1\nseeds: [http://a.lab/1]\nmax_pages: 3\n")
    job = submit(commands, "--file", "job.yaml")
    assert (job["id"], job["submission"]["max_pages"]) == ("f1", 3)
    Path("bad.yaml").write_text("spider: books\nmax_page: 3\n")
    ran = commands.run("jobs", "submit", "--file", "bad.yaml")
    assert (ran.code, "max_page" in str(ran.error)) == (1, True)
    assert commands.run("jobs", "submit").code == 2


def test_jobs_are_listed_by_filters_page_by_page(commands: Commands) -> None:
    for number in range(3):
        submit(commands, "books", "--id", f"b{number}", "--label", f"n={number}")
    submit(commands, "quotes", "--id", "q")
    page = commands.run("jobs", "list", "-n", "2", "--json").json
    assert [job["id"] for job in page["jobs"]] == ["q", "b2"]
    rest = commands.run("jobs", "list", "--after", page["next"], "--json").json
    assert [job["id"] for job in rest["jobs"]] == ["b1", "b0"]
    found = commands.run("jobs", "list", "--label", "n=1", "--spider", "books", "--json").json
    assert [job["id"] for job in found["jobs"]] == ["b1"]
    assert commands.run("jobs", "list", "--state", "ended").stderr == "no jobs\n"
    assert commands.run("jobs", "list", "--since", "1h", "--json").json["jobs"]
    table = commands.run("jobs", "list").stdout
    assert max(map(len, table.splitlines())) <= 80


def test_a_job_is_changed(commands: Commands) -> None:
    submit(commands, "books", "http://a.lab/1", "--id", "b")
    assert commands.run("jobs", "pause", "b", "--json").json[0]["state"] == "paused"
    assert commands.run("jobs", "resume", "b", "--json").json[0]["state"] == "queued"
    assert commands.run("jobs", "reprioritise", "b", "9", "--json").json["priority"] == 9
    assert "b" in commands.run("jobs", "stop", "b").stdout
    shown = commands.run("jobs", "show", "b", "--json").json
    assert (shown["state"], shown["outcome"]) == ("ended", "cancelled")
    assert commands.run("jobs", "pause", "b").code == 1


def test_what_is_upcoming_and_what_went_wrong(commands: Commands) -> None:
    submit(commands, "books", "http://a.lab/1", "--id", "b")
    peeked = commands.run("jobs", "peek", "b", "--json").json
    assert [request["url"] for request in peeked] == ["http://a.lab/1"]
    assert "http://a.lab/1" in commands.run("jobs", "peek", "b").stdout
    assert commands.run("jobs", "errors", "b").stderr == "no errors\n"
    commands.bury("http://b.lab/1", job="lost")
    assert commands.run("jobs", "errors", "lost", "--json").json == {"timeout no answer": 1}
    assert "no answer" in commands.run("jobs", "errors", "lost").stdout


def test_what_failed_is_tried_again(commands: Commands) -> None:
    commands.bury("http://a.lab/1", job="lost")
    again = commands.run("jobs", "retry", "lost", "--json").json
    assert (again["id"], again["figures"]["queued"]) == ("lost", 1)


def test_a_job_is_cloned_with_changes(commands: Commands) -> None:
    submit(commands, "books", "http://a.lab/1", "--id", "b", "-a", "x=1", "-a", "y=1")
    ran = commands.run("jobs", "clone", "b", "--edit", "max_pages=3", "-a", "y=2", "--json")
    clone = ran.json
    assert clone["id"] != "b"
    assert clone["args"] == {"x": "1", "y": "2"}
    assert clone["submission"]["max_pages"] == 3


@pytest.mark.parametrize(
    ("outcome", "code"), [("finished", 0), ("limit reached", 0), ("failed", 3)]
)
def test_waiting_ends_with_a_code_that_says_how(
    commands: Commands, outcome: str, code: int
) -> None:
    submit(commands, "books", "http://a.lab/1", "--id", "b")
    ran = commands.run("jobs", "wait", "b", "--timeout", "0.1s")
    assert (ran.code, "not all have ended" in ran.stderr) == (1, True)
    finish(commands, "b", outcome)
    ran = commands.run("jobs", "wait", "b", "--json")
    assert (ran.code, ran.json[0]["outcome"]) == (code, outcome)


def test_an_ended_job_can_be_forgotten(commands: Commands) -> None:
    submit(commands, "books", "--id", "b")
    assert commands.run("jobs", "delete", "b").code == 1
    commands.run("jobs", "stop", "b")

    async def sweep(frontier: Frontier) -> None:
        for _ in range(3):
            await Caretaker(frontier).tend()

    commands.ask(sweep)
    assert json.loads(commands.run("jobs", "delete", "b", "--json").stdout) == {"deleted": ["b"]}
    assert commands.run("jobs", "show", "b").code == 1


def test_a_unique_job_stands_alone(commands: Commands) -> None:
    submit(commands, "books", "--id", "b", "--unique")
    ran = commands.run("jobs", "submit", "books", "--unique")
    assert (ran.code, "already: b" in str(ran.error)) == (1, True)
