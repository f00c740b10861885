from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from skitter.errors import BadIdentities
from skitter.policies.identity import (
    Identities,
    Identity,
    parse_sets,
    read_sets,
    robots_agent,
)
from skitter.settings import FetchSettings, IdentitySettings, RobotsSettings, Settings

SETS = [
    Identity(f"bot-{n}", (("Accept", f"type/{n}"), ("Accept-Language", "en"))) for n in range(4)
]
HOSTS = [f"h{n}.example" for n in range(400)]


def test_by_default_the_crawler_names_itself() -> None:
    identities = Identities.of(Settings())
    [only] = identities.sets
    assert only.user_agent.startswith("Skitter/")
    assert "Mozilla" not in only.user_agent
    assert identities.pick(host="a.com", url="https://a.com/") is only


def test_requests_take_the_sets_in_turn_and_all_workers_agree() -> None:
    one, other = Identities(SETS), Identities(list(SETS))
    picked = [one.pick(host="a.com", url=f"https://a.com/{n}") for n in range(400)]
    assert picked == [other.pick(host="a.com", url=f"https://a.com/{n}") for n in range(400)]
    counts = Counter(identity.user_agent for identity in picked)
    assert len(counts) == 4
    assert min(counts.values()) > 60


def test_another_attempt_may_have_another_set() -> None:
    identities = Identities(SETS)
    picked = {
        identities.pick(host="a.com", url="https://a.com/", attempts=n).user_agent
        for n in range(20)
    }
    assert len(picked) > 1


def test_a_sticky_host_sees_one_set_by_each_egress() -> None:
    identities = Identities(SETS, sticky=True)
    for host in HOSTS[:20]:
        seen = {
            identities.pick(host=host, url=f"https://{host}/{n}", attempts=n) for n in range(20)
        }
        assert len(seen) == 1
    exits = {identities.pick(host="a.com", url="", egress=f"p{n}") for n in range(20)}
    assert len(exits) > 1
    assert len({identities.pick(host=host, url="") for host in HOSTS}) == 4


def test_a_set_that_is_added_moves_few_hosts() -> None:
    few, more = Identities(SETS, sticky=True), Identities([*SETS, Identity("new")], sticky=True)
    moved = 0
    for host in HOSTS:
        before, after = few.pick(host=host, url=""), more.pick(host=host, url="")
        assert after in (before, Identity("new"))
        moved += after != before
    assert 40 < moved < 130


def test_headers_come_in_the_sets_order_and_the_requests_own_win() -> None:
    identity = Identity("bot", (("Accept", "a"), ("User-Agent", "bot"), ("DNT", "1")))
    dressed = identity.dress({"X-Mine": "x", "accept": "mine"})
    assert list(dressed.items()) == [
        ("Accept", "mine"), ("User-Agent", "bot"), ("DNT", "1"), ("X-Mine", "x"),
    ]  # fmt: skip
    assert identity.dress({"user-agent": "spider"})["User-Agent"] == "spider"
    assert list(Identity("bot").dress({})) == ["User-Agent"]


def test_robots_txt_has_a_name_of_its_own() -> None:
    assert robots_agent(Settings()) == Settings().fetch.user_agent
    settings = Settings(
        fetch=FetchSettings(user_agent="Fetcher"), robots=RobotsSettings(user_agent="Reader")
    )
    assert robots_agent(settings) == "Reader"


def test_sets_come_from_a_yaml_or_json_file(tmp_path: Path) -> None:
    wanted = [
        Identity(
            "one", (("Accept", "*/*"), ("User-Agent", "one"), ("Upgrade-Insecure-Requests", "1"))
        ),
        Identity("two"),
    ]
    path = tmp_path / "sets.yaml"
    path.write_text(
        "- user_agent: one\n  headers:\n    Accept: '*/*'\n    user-agent: one\n"
        "    Upgrade-Insecure-Requests: 1\n- two\n"
    )
    assert read_sets(path) == wanted
    path = tmp_path / "sets.json"
    headers = {"Accept": "*/*", "User-Agent": "", "Upgrade-Insecure-Requests": "1"}
    path.write_text(json.dumps([{"user_agent": "one", "headers": headers}, "two"]))
    assert read_sets(path) == wanted
    settings = Settings(identity=IdentitySettings(file=path, sticky=True))
    assert Identities.of(settings).sets == tuple(wanted)
    assert Identities.of(settings).sticky


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ([], "1 to 1000"),
        ({}, "1 to 1000"),
        ("x", "1 to 1000"),
        (["x"] * 1001, "1 to 1000"),
        ([3], "should have user_agent"),
        ([{"agent": "x"}], "should have user_agent"),
        ([{"headers": {}}], "user_agent is no plain text"),
        (["a\r\nX: y"], "user_agent is no plain text"),
        (["ok", {"user_agent": "x", "headers": []}], None),
        ([{"user_agent": "x", "headers": ["a"]}], "names with values"),
        ([{"user_agent": "x", "headers": {"Bad Name": "y"}}], "'Bad Name' is no header"),
        ([{"user_agent": "x", "headers": {"Cookie": "y"}}], "'Cookie' is no header"),
        ([{"user_agent": "x", "headers": {"Host": "y"}}], "'Host' is no header"),
        ([{"user_agent": "x", "headers": {"A": "b\nc"}}], "the value of A"),
        ([{"user_agent": "x", "headers": {"A": None}}], "the value of A"),
        (["ok", {"user_agent": ""}], "set 2"),
    ],
)
def test_a_bad_set_is_named(values: object, problem: str | None) -> None:
    if problem is None:
        assert len(parse_sets(values)) == 2
        return
    with pytest.raises(BadIdentities, match=problem):
        parse_sets(values)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "sets.yaml"
    for content in (b"[", b"\xff\xff", b"x" * ((1 << 20) + 1)):
        path.write_bytes(content)
        with pytest.raises(BadIdentities, match=r"sets\.yaml"):
            read_sets(path)
    with pytest.raises(BadIdentities, match="nowhere"):
        read_sets(tmp_path / "nowhere.yaml")


def test_no_sets_are_no_identities() -> None:
    with pytest.raises(BadIdentities):
        Identities([])
