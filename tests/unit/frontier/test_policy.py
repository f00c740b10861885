from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skitter.frontier import Config, HostPolicy, RetryPolicy


@given(
    attempts=st.integers(0, 30),
    base_ms=st.integers(1, 60_000),
    factor=st.floats(1, 10),
    jitter=st.floats(0, 1),
    retry_after_ms=st.integers(0, 10**7),
)
def test_a_wait_stays_within_its_bounds(
    attempts: int, base_ms: int, factor: float, jitter: float, retry_after_ms: int
) -> None:
    policy = RetryPolicy(
        max_attempts=100, base_ms=base_ms, factor=factor, jitter=jitter, max_ms=100_000
    )
    wait_ms = policy.wait_ms(attempts, retry_after_ms=retry_after_ms)
    assert wait_ms is not None
    middle = min(100_000, base_ms * factor**attempts)
    assert wait_ms >= int(max(retry_after_ms, middle * (1 - jitter) - 1))
    assert wait_ms <= max(retry_after_ms, middle * (1 + jitter))


def test_the_last_attempt_is_the_last() -> None:
    policy = RetryPolicy(max_attempts=3)
    assert [policy.wait_ms(n) is None for n in range(5)] == [False, False, True, True, True]
    assert RetryPolicy(max_attempts=1).wait_ms(0, retry_after_ms=5000) is None


def test_a_reason_may_have_a_base_of_its_own() -> None:
    policy = RetryPolicy(jitter=0, base_ms=100, base_ms_by_reason=(("timeout", 7000),))
    assert policy.wait_ms(0) == 100
    assert policy.wait_ms(1, reason="timeout") == 14_000


def test_waits_are_spread() -> None:
    waits = {RetryPolicy().wait_ms(0) for _ in range(200)}
    assert len(waits) > 50


def test_a_policy_names_only_what_it_sets() -> None:
    assert HostPolicy().fields() == {}
    assert HostPolicy(delay_ms=0, blocked=False).fields() == {"pd": 0, "bl": False}
    assert HostPolicy(concurrency=3, blocked=True).fields() == {"pc": 3, "bl": 1}


def test_settings_have_different_names_in_the_scripts() -> None:
    fields = Config().fields()
    assert len(fields) == len(Config.__dataclass_fields__)
