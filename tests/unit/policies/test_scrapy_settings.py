from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from scrapy.settings import Settings as ScrapySettings

from skitter.errors import BadScrapySetting, SettingsError
from skitter.frontier import HostPolicy, Job
from skitter.policies.retry import RetryRules
from skitter.policies.scrapy_settings import ScrapyTuning, from_scrapy, told
from skitter.settings import Settings


def tuning(priority: str = "project", **values: Any) -> ScrapyTuning:
    settings = ScrapySettings()
    settings.setdict(values, priority=priority)
    return from_scrapy(told(settings))


def test_scrapys_defaults_mean_nothing() -> None:
    assert tuning() == ScrapyTuning()
    assert tuning().over(Settings()) == Settings()


@pytest.mark.parametrize(
    ("priority", "counts"),
    [("default", False), ("command", False), ("addon", False), ("project", True), ("spider", True),
     ("cmdline", True)],
)  # fmt: skip
def test_only_what_a_person_set_counts(priority: str, counts: bool) -> None:
    assert tuning(priority, DOWNLOAD_DELAY=3).job == ({"delay_s": 3.0} if counts else {})


def test_a_value_that_equals_scrapys_default_counts_if_it_was_set() -> None:
    assert tuning(DOWNLOAD_DELAY=0).job == {"delay_s": 0.0}
    assert tuning(ROBOTSTXT_OBEY=False).job == {"robots": False}


def test_pace_and_limits_become_fields_of_the_job() -> None:
    found = tuning(
        DOWNLOAD_DELAY=0.5,
        CONCURRENT_REQUESTS_PER_DOMAIN=4,
        ROBOTSTXT_OBEY=True,
        DEPTH_LIMIT=7,
        CLOSESPIDER_PAGECOUNT=100,
        CLOSESPIDER_TIMEOUT=3600,
    )
    job = Job(id="j", spider="s", **found.job)
    assert (job.delay_s, job.concurrency, job.robots) == (0.5, 4, True)
    assert (job.max_depth, job.max_pages, job.expires_s) == (7, 100, 3600)


def test_zero_is_no_limit() -> None:
    found = tuning(
        DEPTH_LIMIT=0, CLOSESPIDER_PAGECOUNT=0, CLOSESPIDER_TIMEOUT=0, CLOSESPIDER_ITEMCOUNT=0
    )
    assert found == ScrapyTuning()


@pytest.mark.parametrize(
    ("values", "delay_s"),
    [
        ({"CONCURRENT_REQUESTS_PER_DOMAIN": 4}, 0.0),
        ({"CONCURRENT_REQUESTS_PER_DOMAIN": 1}, None),
        ({"CONCURRENT_REQUESTS_PER_DOMAIN": 4, "DOWNLOAD_DELAY": 2}, 2.0),
        ({"CONCURRENT_REQUESTS_PER_DOMAIN": 4, "AUTOTHROTTLE_ENABLED": True}, None),
        ({"AUTOTHROTTLE_ENABLED": True, "DOWNLOAD_DELAY": 0}, 0.05),
        ({"AUTOTHROTTLE_ENABLED": True, "DOWNLOAD_DELAY": 3}, 3.0),
    ],
)
def test_who_asks_for_several_at_a_time_means_no_delay(
    values: dict[str, Any], delay_s: float | None
) -> None:
    assert tuning(**values).job.get("delay_s") == delay_s


def test_what_is_for_each_process_and_for_each_request() -> None:
    found = tuning(CONCURRENT_REQUESTS=32, DEPTH_PRIORITY=1, REDIRECT_PRIORITY_ADJUST=2)
    assert (found.in_flight, found.depth_priority, found.redirect_priority) == (32, 1, 2)


def test_download_slots_become_policies_of_hosts() -> None:
    found = tuning(
        DOWNLOAD_DELAY=2,
        DOWNLOAD_SLOTS={
            "Quiet.example": {"concurrency": 1, "delay": 10, "randomize_delay": False},
            "quick.example": {"concurrency": 5, "delay": 0},
            "same.example": {"concurrency": 3},
        },
    )
    assert found.hosts == {
        "quiet.example": HostPolicy(delay_ms=10_000, concurrency=1),
        "quick.example": HostPolicy(delay_ms=0, concurrency=5),
        "same.example": HostPolicy(delay_ms=2000, concurrency=3),
    }
    alone = tuning(DOWNLOAD_SLOTS={"a.com": {"concurrency": 3}, "b.com": {}})
    assert alone.hosts == {"a.com": HostPolicy(delay_ms=0, concurrency=3), "b.com": HostPolicy()}


def test_autothrottle_becomes_the_latency_factor() -> None:
    found = tuning(
        AUTOTHROTTLE_ENABLED=True, AUTOTHROTTLE_TARGET_CONCURRENCY=4, AUTOTHROTTLE_MAX_DELAY=20
    )
    politeness = found.over(Settings()).politeness
    assert (politeness.latency_factor, politeness.max_delay_s) == (0.25, 20)
    assert tuning(AUTOTHROTTLE_ENABLED=False).over(Settings()).politeness.latency_factor == 0
    short = tuning(AUTOTHROTTLE_ENABLED=True, AUTOTHROTTLE_MAX_DELAY=0.5).over(Settings())
    assert short.politeness.max_delay_s == 1.0  # never less than the delay itself


def test_retries() -> None:
    settings = tuning(RETRY_TIMES=5, RETRY_HTTP_CODES=[500, 403]).over(Settings())
    rules = RetryRules.of(settings.retry)
    assert rules.decide(4, status=403).action == "retry"
    assert rules.decide(5, status=403).action == "bury"
    assert rules.decide(0, status=503).action == "give"
    assert tuning(RETRY_ENABLED=False).over(Settings()).retry.max_attempts == 1
    assert tuning(RETRY_TIMES=0).over(Settings()).retry.max_attempts == 1


def test_redirects_user_agents_and_long_urls() -> None:
    settings = tuning(
        REDIRECT_MAX_TIMES=3, USER_AGENT="mine/1", ROBOTSTXT_USER_AGENT="mine", URLLENGTH_LIMIT=99
    ).over(Settings())
    assert settings.redirects.max_hops == 3
    assert (settings.fetch.user_agent, settings.robots.user_agent) == ("mine/1", "mine")
    assert settings.traps.max_url_chars == 99
    assert tuning(REDIRECT_ENABLED=False).over(Settings()).redirects.max_hops == 0


def test_what_ends_a_job() -> None:
    found = tuning(
        CLOSESPIDER_ITEMCOUNT=5,
        CLOSESPIDER_ERRORCOUNT=6,
        CLOSESPIDER_PAGECOUNT_NO_ITEM=7,
        CLOSESPIDER_TIMEOUT_NO_ITEM=8,
    )
    assert found.close_on == {
        "items": 5, "errors": 6, "pages_without_item": 7, "seconds_without_item": 8,
    }  # fmt: skip


def test_what_is_not_kept_is_said() -> None:
    notes = tuning(RANDOMIZE_DOWNLOAD_DELAY=True, RETRY_PRIORITY_ADJUST=-1).notes
    assert [note.split()[0] for note in notes] == [
        "RANDOMIZE_DOWNLOAD_DELAY", "RETRY_PRIORITY_ADJUST",
    ]  # fmt: skip


def test_values_of_a_command_line_are_text() -> None:
    found = tuning(
        "cmdline",
        DOWNLOAD_DELAY="1.5",
        CONCURRENT_REQUESTS="8",
        ROBOTSTXT_OBEY="False",
        AUTOTHROTTLE_ENABLED="1",
        RETRY_HTTP_CODES="500, 502",
        DOWNLOAD_SLOTS='{"a.com": {"delay": "3"}}',
    )
    assert found.job == {"delay_s": 1.5, "robots": False}
    assert found.in_flight == 8
    assert found.settings["retry.statuses"] == (500, 502)
    assert found.hosts == {"a.com": HostPolicy(delay_ms=3000)}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DOWNLOAD_DELAY", "soon"),
        ("DOWNLOAD_DELAY", -1),
        ("DOWNLOAD_DELAY", float("nan")),
        ("DOWNLOAD_DELAY", [1]),
        ("CONCURRENT_REQUESTS", "many"),
        ("ROBOTSTXT_OBEY", "perhaps"),
        ("ROBOTSTXT_OBEY", 1.5),
        ("RETRY_HTTP_CODES", "x"),
        ("RETRY_HTTP_CODES", 500),
        ("DOWNLOAD_SLOTS", "{"),
        ("DOWNLOAD_SLOTS", "[]"),
        ("DOWNLOAD_SLOTS", {"a.com": 3}),
        ("DOWNLOAD_SLOTS", {"a.com": {"delay": "x"}}),
    ],
)
def test_a_value_that_means_nothing_is_named(name: str, value: object) -> None:
    with pytest.raises(BadScrapySetting, match=name):
        from_scrapy({name: (value, 20)})


def test_a_value_that_our_settings_refuse_is_an_error_of_ours() -> None:
    with pytest.raises(SettingsError, match="user_agent"):
        tuning(USER_AGENT="tabs\tare no text").over(Settings())


def test_what_was_set_to_none_is_not_set() -> None:
    assert tuning(DOWNLOAD_DELAY=None, ROBOTSTXT_USER_AGENT=None, USER_AGENT="") == ScrapyTuning()


def test_scrapy_is_not_needed() -> None:
    code = (
        "import sys, skitter.policies.scrapy_settings, skitter.policies.retry; "
        "sys.exit('scrapy' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
