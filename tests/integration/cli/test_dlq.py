"""`skitter dlq`: what was given up is found, tried again as it is or changed, or thrown away."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skitter.frontier import Frontier
    from skitter.frontier.stats import JobStats
    from tests.integration.cli.commands import Commands


def stats(commands: Commands, job: str = "books") -> JobStats:
    async def read(frontier: Frontier) -> JobStats:
        return await frontier.stats.job(job)

    found: JobStats = commands.ask(read)
    return found


def test_letters_are_listed_shown_and_grouped(commands: Commands) -> None:
    commands.bury("http://a.lab/1", "http://a.lab/2")
    commands.bury("http://b.lab/1", job="quotes", reason="404")
    letters = commands.run("dlq", "list", "--json").json["letters"]
    assert {letter["request"]["url"] for letter in letters} == {
        "http://a.lab/1",
        "http://a.lab/2",
        "http://b.lab/1",
    }
    assert len(commands.run("dlq", "list", "--job", "quotes", "--json").json["letters"]) == 1
    groups = commands.run("dlq", "group", "--json").json
    assert [(one["host"], one["reason"], one["count"]) for one in groups] == [
        ("a.lab", "timeout", 2),
        ("b.lab", "404", 1),
    ]
    for command in ("list", "group"):
        table = commands.run("dlq", command).stdout
        assert "timeout" in table
        assert max(map(len, table.splitlines())) <= 80
    shown = commands.run("dlq", "show", letters[0]["id"]).stdout
    assert letters[0]["request"]["url"] in shown
    assert commands.run("dlq", "show", "nobody").code == 1


def test_a_listing_goes_on_where_it_stopped(commands: Commands) -> None:
    commands.bury(*(f"http://a.lab/{number}" for number in range(5)))
    first = commands.run("dlq", "list", "-n", "2", "--json").json
    commands.run("dlq", "discard", first["letters"][1]["id"], "--yes")
    rest = commands.run("dlq", "list", "--after", first["next"], "--json").json
    urls = [one["request"]["url"] for page in (first, rest) for one in page["letters"]]
    assert sorted(urls) == [f"http://a.lab/{number}" for number in range(5)]
    assert rest["next"] is None
    told = commands.run("dlq", "list", "-n", "2")
    assert "--after" in told.stderr
    assert str(commands.run("dlq", "list", "--after", "x").error).startswith("The place")


def test_a_dry_run_changes_nothing(commands: Commands) -> None:
    commands.bury("http://a.lab/1")
    ran = commands.run("dlq", "replay", "--all", "--dry-run", "--json").json
    assert (ran["chosen"], ran["replayed"], ran["dry_run"]) == (1, 0, True)
    assert (
        "1 of 1 would be discarded" in commands.run("dlq", "discard", "--all", "--dry-run").stdout
    )
    assert len(commands.run("dlq", "list", "--json").json["letters"]) == 1


def test_a_group_is_replayed(commands: Commands) -> None:
    commands.bury("http://a.lab/1", "http://a.lab/2")
    commands.bury("http://b.lab/1", reason="404")
    ran = commands.run("dlq", "replay", "--host", "a.lab", "--reason", "timeout", "--json").json
    assert (ran["chosen"], ran["replayed"]) == (2, 2)
    left = commands.run("dlq", "list", "--json").json["letters"]
    assert [letter["host"] for letter in left] == ["b.lab"]
    assert stats(commands).queued == 2


def test_a_changed_request_is_tried(commands: Commands) -> None:
    commands.bury("http://a.lab/wrong")
    letter = commands.run("dlq", "list", "--json").json["letters"][0]["id"]
    ran = commands.run(
        "dlq", "edit", letter, "--url", "http://a.lab/right", "--header", "X-Try: 2", "--json"
    )
    assert ran.json["replayed"] == 1

    async def peek(frontier: Frontier) -> tuple[str, object]:
        (request,) = await frontier.stats.peek("books")
        return request.url, request.headers["X-Try"]

    assert commands.ask(peek) == ("http://a.lab/right", "2")


def test_a_request_stays_with_its_host(commands: Commands) -> None:
    commands.bury("http://a.lab/wrong")
    letter = commands.run("dlq", "list", "--json").json["letters"][0]["id"]
    ran = commands.run("dlq", "edit", letter, "--url", "http://b.lab/")
    assert (ran.code, "stays with its host" in str(ran.error)) == (1, True)


def test_what_is_discarded_is_gone(commands: Commands) -> None:
    commands.bury("http://a.lab/1", "http://a.lab/2")
    assert commands.run("dlq", "discard", "--all").code == 2  # nobody is there to be asked
    ran = commands.run("dlq", "discard", "--job", "books", "--yes", "--json").json
    assert ran["discarded"] == 2
    assert commands.run("dlq", "list", "--json").json == {"letters": [], "next": None}


def test_an_ended_job_takes_nothing_more(commands: Commands) -> None:
    commands.bury("http://a.lab/1")

    async def stop(frontier: Frontier) -> None:
        await frontier.jobs.stop("books")

    commands.ask(stop)
    ran = commands.run("dlq", "replay", "--all")
    assert ran.code == 1
    assert "skitter jobs retry" in ran.stderr


def test_nothing_is_meant_by_saying_nothing(commands: Commands) -> None:
    assert commands.run("dlq", "replay").code == 2
    assert commands.run("dlq", "discard", "--yes").code == 2
