from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from skitter.cli.main import app
from skitter.errors import JobEnded
from skitter.frontier import Job, Request, Scope
from skitter.frontier.completer import Completer
from skitter.jobs import held_open, pushing, stand
from skitter.service_errors import JobDiffers, NoJobToPushTo
from tests.wait import wait_until, wait_until_async

if TYPE_CHECKING:
    from pathlib import Path

    from skitter.frontier import Frontier
    from tests.integration.cli.pushes import Pushes


def test_urls_are_new_then_known(pushes: Pushes) -> None:
    urls = ["https://a.example/1", "https://b.example/2"]
    assert pushes.run(*urls).told == (2, 0, 0)
    again = pushes.run(*urls, "https://a.example/3", spider=None)
    assert (again.code, again.told) == (0, (1, 2, 0))
    assert {request.url for request in pushes.queued()} == {*urls, "https://a.example/3"}


def test_a_file_of_urls_and_objects_goes_on_after_bad_lines(pushes: Pushes, tmp_path: Path) -> None:
    fields = {
        "url": "https://a.example/2",
        "method": "POST",
        "callback": "parse_two",
        "priority": 9,
        "meta": {"n": 2},
        "headers": {"Accept": "text/html"},
    }
    lines = [
        "https://a.example/1",
        "",
        json.dumps(fields | {"body": "x=1"}),
        '{"url": "https://a.example/3"',
        "# a comment",
        "htp://a.example/",
        "https://a.example/7",
        '{"url": "https://a.example/8", "dont_filter": 1}',
    ]
    (tmp_path / "urls.txt").write_text("\n".join(lines))
    pushed = pushes.run("--file", "urls.txt", "--callback", "parse_page", "--priority", "4")
    assert (pushed.code, pushed.told) == (0, (3, 0, 3))
    assert pushed.reasons == {
        "it is not JSON: Expecting ',' delimiter": 1,
        "htp is not http or https": 1,
        "its dont_filter is not true or false": 1,
    }
    assert "urls.txt:4: it is not JSON" in pushed.stderr
    assert "urls.txt:8: its dont_filter" in pushed.stderr
    places = [entry["examples"][0]["place"] for entry in pushed.counts["reasons"]]
    assert sorted(places) == ["urls.txt:4", "urls.txt:6", "urls.txt:8"]
    first, *rest = sorted(pushes.queued(), key=lambda request: -request.priority)
    assert first == Request("books", body=b"x=1", **fields)  # type: ignore[arg-type]
    assert {(request.callback, request.priority) for request in rest} == {("parse_page", 4)}


def test_all_of_a_long_file_in_small_batches(pushes: Pushes, tmp_path: Path) -> None:
    lines = [f"https://h{n % 7}.example/{n % 2500}\n" for n in range(3000)]
    (tmp_path / "urls.txt").write_text("".join(lines))
    # 2500 is no multiple of 7, so a path comes back on another host.
    expected = len(set(lines))
    pushed = pushes.run("--file", "urls.txt", "--batch", "64")
    assert pushed.told == (expected, 3000 - expected, 0)


def test_refusals_are_counted_by_reason_with_examples(pushes: Pushes) -> None:
    async def submit(frontier: Frontier) -> None:
        scope = Scope(allowed_domains=("a.example",))
        await frontier.jobs.submit(Job(id="books", spider="books", scope=scope))

    pushes.ask(submit)
    strangers = [f"https://b.example/{n}?token=secret{n}" for n in range(5)]
    pushed = pushes.run("https://a.example/", *strangers)
    assert (pushed.code, pushed.told) == (0, (1, 0, 5))
    (entry,) = pushed.counts["reasons"]
    assert (entry["reason"], entry["count"]) == ("out of scope: domain", 5)
    assert [example["text"] for example in entry["examples"]] == [
        f"https://b.example/{n}?token=***" for n in range(3)
    ]


def test_if_every_url_is_refused_the_command_fails_with_the_reason(pushes: Pushes) -> None:
    pushed = pushes.run("nonsense", "ftp://a.example/")
    assert (pushed.code, pushed.told) == (1, (0, 0, 2))
    assert "every URL was refused: it is no absolute URL" in pushed.stderr
    assert "ftp is not http or https" in pushed.stderr


def test_the_job_is_free_to_complete_afterwards(pushes: Pushes) -> None:
    pushes.run("https://a.example/1")

    async def look(frontier: Frontier) -> tuple[dict[str, int], bool]:
        found = (await frontier.lease([Job(id="", spider="books").lane], count=5)).leases
        await frontier.release(found)
        return await frontier.jobs.holds("books"), await Completer(frontier).complete("books")

    assert pushes.ask(look) == ({}, False)


def test_the_hold_is_renewed_and_keeps_the_job_from_completing(
    pushes: Pushes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pushing, "HOLD_MS", 600)

    async def hold(frontier: Frontier) -> bool:
        assert await stand(frontier, "books", spider="books", args={})
        async with held_open(frontier, "books"):
            await frontier.jobs.release_hold("books")
            ((name, first),) = (await frontier.jobs.holds("books")).items()

            async def renewed() -> bool:
                return (await frontier.jobs.holds("books"))[name] > first

            await wait_until_async(renewed, what="the hold is renewed")
            return await Completer(frontier).complete("books")

    assert pushes.ask(hold) is False
    assert _holds(pushes) == {}


def test_an_empty_push_lets_its_job_finish(pushes: Pushes, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert pushes.run("--file", "empty").told == (0, 0, 0)

    async def complete(frontier: Frontier) -> str:
        await Completer(frontier).complete("books")
        return (await frontier.jobs.record("books")).outcome

    assert pushes.ask(complete) == "finished"


def test_arguments_of_the_spider_are_part_of_the_job(pushes: Pushes) -> None:
    pushes.run("https://a.example/", "--arg", "category=poetry", "--arg", "q=a=b")

    async def record(frontier: Frontier) -> dict[str, str]:
        return (await frontier.jobs.record("books")).job.args

    assert pushes.ask(record) == {"category": "poetry", "q": "a=b"}
    pushed = pushes.run("https://a.example/", "--arg", "category=prose")
    assert isinstance(pushed.error, JobDiffers)
    assert "category=poetry" in str(pushed.error)


def test_a_job_that_does_not_stand_and_one_that_has_ended(pushes: Pushes) -> None:
    assert isinstance(pushes.run("https://a.example/", spider=None).error, NoJobToPushTo)
    pushes.run("https://a.example/")

    async def stop(frontier: Frontier) -> None:
        await frontier.jobs.stop("books")

    pushes.ask(stop)
    assert isinstance(pushes.run("https://b.example/", spider=None).error, JobEnded)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "nothing to push"),
        (["--file", "missing.txt"], "there is no such file"),
        (["--sitemap", "missing.xml"], "there is no such file"),
        (["https://a.example/", "--arg", "category"], "is not NAME=VALUE"),
        (["https://a.example/", "--batch", "0"], "--batch"),
    ],
)
def test_wrong_use_is_told(pushes: Pushes, args: list[str], message: str) -> None:
    pushed = pushes.run(*args)
    assert pushed.code == 2
    assert message in pushed.stderr


def test_standard_input_is_pushed_as_it_comes_and_ctrl_c_ends_with_the_counts(
    pushes: Pushes,
) -> None:
    with pushes.process("--file", "-") as process:
        assert process.stdin
        print("https://a.example/1", file=process.stdin, flush=True)
        wait_until(lambda: pushes.waiting() == 1, what="the first URL")
        print("https://a.example/2\nnonsense", file=process.stdin, flush=True)
        wait_until(lambda: pushes.waiting() == 2, what="the second URL")
        assert [name.partition(":")[0] for name in _holds(pushes)] == ["push"]
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    counts = json.loads(out)
    assert process.returncode == 130
    assert (counts["new"], counts["refused"], counts["interrupted"]) == (2, 1, True)
    assert "Traceback" not in err
    assert _holds(pushes) == {}


def test_the_end_of_standard_input_is_the_end(pushes: Pushes) -> None:
    with pushes.process("--file", "-") as process:
        out, _ = process.communicate("https://a.example/1\nhttps://a.example/2", timeout=30)
    assert process.returncode == 0
    assert json.loads(out)["new"] == 2


def test_a_job_that_ends_meanwhile_ends_the_push_with_the_counts(pushes: Pushes) -> None:
    with pushes.process("--file", "-") as process:
        assert process.stdin
        print("https://a.example/1", file=process.stdin, flush=True)
        wait_until(lambda: pushes.waiting() == 1, what="the first URL")

        async def stop(frontier: Frontier) -> None:
            await frontier.jobs.stop("books")

        pushes.ask(stop)
        print("https://a.example/2", file=process.stdin, flush=True)
        process.wait(30)
        out, err = process.communicate()
    assert process.returncode == 1
    assert json.loads(out)["reasons"][0]["reason"] == "job ended"
    assert "has ended (cancelled)" in err


def test_people_get_a_table(pushes: Pushes) -> None:
    arguments = [argument for argument in pushes.arguments("books") if argument != "--json"]
    done = CliRunner().invoke(app, [*arguments, "https://a.example/1", "[bold]nonsense"])
    assert done.exit_code == 0
    assert "Push to books: 2 read" in done.stdout
    assert "[bold]nonsense" in done.stdout


def _holds(pushes: Pushes) -> dict[str, int]:
    async def holds(frontier: Frontier) -> dict[str, int]:
        return await frontier.jobs.holds("books")

    found: dict[str, int] = pushes.ask(holds)
    return found
