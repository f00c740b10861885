"""`skitter hosts`: the ranking, and a policy that holds at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skitter.frontier.policy import HostPolicy

if TYPE_CHECKING:
    from skitter.frontier import Frontier
    from tests.integration.cli.commands import Commands


def test_hosts_are_ranked_by_what_is_queued(commands: Commands) -> None:
    commands.queue(*(f"http://a.lab/{n}" for n in range(5)), "http://b.lab/1", "http://b.lab/2")
    ran = commands.run("hosts", "list", "--json")
    assert [(host["host"], host["queued"]) for host in ran.json] == [("a.lab", 5), ("b.lab", 2)]
    table = commands.run("hosts", "list", "--by", "queued").stdout
    assert "a.lab" in table
    assert max(map(len, table.splitlines())) <= 80


def test_an_empty_ranking_says_so(commands: Commands) -> None:
    ran = commands.run("hosts", "list", "--by", "failed")
    assert (ran.code, ran.stdout) == (0, "")
    assert "no host has two or more failed" in ran.stderr


def test_a_policy_holds_at_once_and_is_cleared(commands: Commands) -> None:
    commands.queue("http://a.lab/1")
    ran = commands.run("hosts", "set", "a.lab", "--delay", "5", "--budget", "9", "--budget-s", "60",
                       "--json")  # fmt: skip
    assert ran.json["pace_ms"] == 5000
    shown = commands.run("hosts", "show", "a.lab").stdout
    assert "5.0 s, one request at a time" in shown
    assert "9 requests in 60.0 s" in shown
    cleared = commands.run("hosts", "clear", "a.lab", "--json").json
    assert (cleared["pace_ms"], cleared["delay_ms"], cleared["budget"]) == (0, None, None)


def test_a_blocked_host_is_not_leased(commands: Commands) -> None:
    commands.queue("http://a.lab/1", "http://a.lab/2")

    async def leased(frontier: Frontier) -> int:
        lane = (await frontier.jobs.record("books")).job.lane
        found = (await frontier.lease([lane], count=5)).leases
        await frontier.release(found)
        return len(found)

    assert commands.run("hosts", "block", "a.lab", "--json").json["blocked"] is True
    assert "blocked" in commands.run("hosts", "list").stdout
    assert commands.ask(leased) == 0
    assert commands.run("hosts", "unblock", "a.lab", "--json").json["blocked"] is False
    assert commands.ask(leased) == 1


def test_a_policy_without_a_word_is_a_usage_error(commands: Commands) -> None:
    assert commands.run("hosts", "set", "a.lab").code == 2
    assert commands.run("hosts", "set", "a.lab", "--budget", "5").code == 2


@pytest.mark.parametrize(
    ("policy", "pace_ms"),
    [
        (HostPolicy(), 400),
        (HostPolicy(crawl_delay_ms=700), 700),
        (HostPolicy(delay_ms=2000, crawl_delay_ms=700), 2000),
        (HostPolicy(delay_ms=0), 0),
    ],
)
def test_the_pace_that_is_shown_is_the_frontiers(
    policy: HostPolicy, pace_ms: int, commands: Commands
) -> None:
    """The formula is a script's; this holds the two together."""
    commands.flags["politeness.delay_s"] = "0.4"

    async def set_policy(frontier: Frontier) -> int:
        return await frontier.hosts.set_policy("p.lab", policy)

    assert commands.ask(set_policy) == pace_ms
    assert commands.run("hosts", "show", "p.lab", "--json").json["pace_ms"] == pace_ms
