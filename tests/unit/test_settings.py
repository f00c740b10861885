from __future__ import annotations

import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from skitter.errors import SettingsError
from skitter.settings import (
    FrontierSettings,
    RedisSettings,
    Settings,
    WorkerSettings,
    load_settings,
    load_with_origins,
    parse_sets,
)
from skitter.settings.listing import list_settings, render_page
from skitter.settings.sources import known_names

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def empty_world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of its own, and no variable that means anything."""
    for name in list(os.environ):
        if name.upper().startswith("SKITTER_") or name in {"REDIS_URL", "WORKER_ID"}:
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_yaml(text: str, name: str = "skitter.yaml") -> Path:
    path = Path(name)
    path.write_text(text, encoding="utf-8")
    return path


def problems(flags: dict[str, object] | None = None) -> str:
    with pytest.raises(SettingsError) as caught:
        load_settings(flags)
    return str(caught.value)


def test_nothing_given_is_the_defaults() -> None:
    assert load_settings() == Settings()


def test_each_source_wins_over_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().redis.namespace == "skitter"
    write_yaml("redis: {namespace: from-file}")
    assert load_settings().redis.namespace == "from-file"
    monkeypatch.setenv("SKITTER_REDIS__NAMESPACE", "from-env")
    assert load_settings().redis.namespace == "from-env"
    assert load_settings({"redis.namespace": "from-flag"}).redis.namespace == "from-flag"


def test_sources_are_merged_setting_by_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    write_yaml("frontier: {lease_s: 7, turn_s: 2}\nredis:\n")
    monkeypatch.setenv("SKITTER_FRONTIER__TURN_S", "3")
    loaded = load_with_origins({"frontier": {"max_crashes": "4"}})
    frontier = loaded.settings.frontier
    assert (frontier.lease_s, frontier.turn_s, frontier.max_crashes) == (7, 3, 4)
    assert loaded.origins == {
        "frontier.lease_s": "skitter.yaml",
        "frontier.turn_s": "SKITTER_FRONTIER__TURN_S",
        "frontier.max_crashes": "flag",
    }


def test_file_is_named_by_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    write_yaml("retry: {max_attempts: 9}", "other.yaml")
    monkeypatch.setenv("SKITTER_CONFIG", "other.yaml")
    assert load_settings().retry.max_attempts == 9


def test_named_file_that_is_missing_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKITTER_CONFIG", "nowhere.yaml")
    assert "SKITTER_CONFIG names nowhere.yaml, which is not a file" in problems()


@pytest.mark.parametrize("text", ["redis: {", "- a\n- b", "just words", "\x00"])
def test_file_that_is_no_mapping_is_a_problem(text: str) -> None:
    write_yaml(text)
    assert "skitter.yaml" in problems()


def test_common_names_rank_between_file_and_own_names(monkeypatch: pytest.MonkeyPatch) -> None:
    write_yaml("redis: {url: 'redis://file'}")
    monkeypatch.setenv("REDIS_URL", "redis://common")
    assert load_settings().redis.url == "redis://common"
    monkeypatch.setenv("SKITTER_REDIS__URL", "redis://own")
    assert load_settings().redis.url == "redis://own"


def test_worker_id_has_three_names(monkeypatch: pytest.MonkeyPatch) -> None:
    for rank, name in enumerate(["WORKER_ID", "SKITTER_WORKER_ID", "SKITTER_WORKER__ID"]):
        monkeypatch.setenv(name, f"w{rank}")
        assert load_settings().worker.id == f"w{rank}"


def test_empty_variable_is_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", "")
    monkeypatch.setenv("SKITTER_FRONTIER__LEASE_S", "")
    assert load_settings() == Settings()


def test_null_takes_a_value_away(monkeypatch: pytest.MonkeyPatch) -> None:
    write_yaml("redis: {url: 'redis://file', shards: 4}")
    monkeypatch.setenv("SKITTER_REDIS__URL", "null")
    settings = load_settings(parse_sets(["redis.shards=null"]))
    assert (settings.redis.url, settings.redis.shards) == (None, None)


def test_text_becomes_what_the_setting_is() -> None:
    sets = [
        "politeness.robots=false",
        "fetch.max_body_bytes=2MiB",
        "fetch.resolve=*.lab=127.0.0.1:8080, x=[::1]",
        "log.level=DEBUG",
        "worker.id=7",
    ]
    settings = load_settings(parse_sets(sets))
    assert settings.politeness.robots is False
    assert settings.fetch.max_body_bytes == 2 * 1024**2
    assert settings.fetch.resolve == ("*.lab=127.0.0.1:8080", "x=[::1]")
    assert (settings.log.level, settings.worker.id) == ("debug", "7")


def test_lists_come_from_environment_and_file(monkeypatch: pytest.MonkeyPatch) -> None:
    write_yaml("fetch: {resolve: ['a=127.0.0.1', 'b=127.0.0.2']}")
    assert load_settings().fetch.resolve == ("a=127.0.0.1", "b=127.0.0.2")
    monkeypatch.setenv("SKITTER_FETCH__RESOLVE", "c=127.0.0.3")
    assert load_settings().fetch.resolve == ("c=127.0.0.3",)


@pytest.mark.parametrize(
    ("yaml_text", "message"),
    [
        ("redis: {ulr: x}", "redis.ulr (skitter.yaml) is not a setting; did you mean redis.url?"),
        ("reddis: {url: x}", "did you mean redis.url?"),
        ("lease_s: 5", "did you mean frontier.lease_s?"),
        ("redis: {url: {host: x}}", "redis.url.host (skitter.yaml) is not a setting"),
        ("redis: 5", "redis (skitter.yaml) is a section: write its settings under it"),
        ("zzzzqqqq: 1", "zzzzqqqq (skitter.yaml) is not a setting"),
    ],
)
def test_unknown_name_in_the_file_suggests_the_nearest(yaml_text: str, message: str) -> None:
    write_yaml(yaml_text)
    assert message in problems()


@pytest.mark.parametrize(
    ("variable", "nearest"),
    [
        ("SKITTER_REDIS_URL", "SKITTER_REDIS__URL"),
        ("SKITTER_REDIS__ULR", "SKITTER_REDIS__URL"),
        ("SKITTER_LEASE_S", "SKITTER_FRONTIER__LEASE_S"),
        ("SKITTER_RETRYS__MAX_ATTEMPTS", "SKITTER_RETRY__MAX_ATTEMPTS"),
    ],
)
def test_unknown_variable_suggests_the_nearest(
    variable: str, nearest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "1")
    assert f"{variable} is not a setting; did you mean {nearest}?" in problems()


def test_variables_of_the_test_run_are_no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKITTER_REQUIRE_SERVERS", "1")
    assert load_settings() == Settings()


def test_all_problems_come_in_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    write_yaml("frontier: {lease_s: -1}\nredis: {ulr: x}")
    monkeypatch.setenv("SKITTER_RETRY__JITTER", "lots")
    text = problems({"log.level": "loud"})
    assert "there are 4 problems" in text
    assert "frontier.lease_s (skitter.yaml) is -1: it should be greater than 0" in text
    assert "retry.jitter (SKITTER_RETRY__JITTER) is 'lots'" in text
    assert "log.level (flag) is 'loud'" in text


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"frontier.renew_margin_s": 30}, "renew_margin_s should be shorter than lease_s"),
        ({"frontier.alone_after_crashes": 11}, "should not be greater than max_crashes"),
        ({"retry.base_s": 700}, "base_s should not be longer than max_s"),
        ({"politeness.delay_s": 301}, "delay_s should not be longer than max_delay_s"),
        ({"politeness.delay_s": "inf"}, "finite"),
        ({"redis.url": "http://x"}, "redis://, rediss:// or unix://"),
        ({"redis.url": "redis:///0"}, "names no host"),
        ({"redis.url": "redis://h:port"}, "ort"),
        ({"redis.url": "unix://"}, "name a socket"),
        ({"redis.namespace": "{a}"}, "redis.namespace"),
        ({"embedded.maxmemory": "lots"}, "embedded.maxmemory"),
        ({"fetch.resolve": "nothing"}, "pattern[:port]=address[:port]"),
        ({"fetch.user_agent": "a\nb"}, "fetch.user_agent"),
        ({"fetch.max_body_bytes": 0}, "greater than 0"),
    ],
)
def test_values_out_of_bounds_are_refused(flags: dict[str, object], message: str) -> None:
    assert message in problems(flags)


def test_set_without_a_value_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"not of the form section\.name=value"):
        parse_sets(["redis.url"])


def test_passwords_are_never_shown() -> None:
    url = "redis://user:hunter2@host:6379/0"
    loaded = load_with_origins({"redis.url": url})
    assert loaded.settings.redis.url == url
    rows = {row.name: row for row in list_settings(loaded)}
    assert rows["redis.url"].value == "redis://user:***@host:6379/0"
    assert "hunter2" not in repr(loaded)
    assert "hunter2" not in str(loaded.settings)
    assert "hunter2" not in problems({"redis.url": "http://user:hunter2@host"})


def test_settings_are_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Settings().frontier.lease_s = 5  # type: ignore[misc]


def test_sections_are_built_without_the_world(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKITTER_FRONTIER__LEASE_S", "99")
    monkeypatch.setenv("REDIS_URL", "redis://elsewhere")
    assert Settings().frontier.lease_s == FrontierSettings().lease_s == 30
    assert RedisSettings().url is None


def test_worker_name_is_the_id_or_host_and_process() -> None:
    assert WorkerSettings(id="w1").name() == "w1"
    assert WorkerSettings().name().endswith(f"-{os.getpid()}")


@pytest.mark.parametrize("name", known_names())
def test_every_setting_is_documented(name: str) -> None:
    (row,) = (row for row in list_settings(load_with_origins()) if row.name == name)
    assert len(row.doc.split()) > 3
    assert row.doc.endswith(".")


def test_the_page_in_the_docs_is_up_to_date() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert page == render_page(), "run: make docs"
