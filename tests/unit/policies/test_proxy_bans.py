from __future__ import annotations

from collections import Counter

import pytest

from skitter.policies.proxies.bans import Bans, Counts, Fault
from skitter.policies.proxies.rotation import Ranking
from skitter.settings import ProxySettings

pytestmark = pytest.mark.unit

BANS = Bans(ProxySettings(ban_statuses=(403, 429), ban_patterns=("Are you a robot",)))


@pytest.mark.parametrize(
    ("status", "error", "fault"),
    [
        (200, "", None),
        (404, "", None),
        (503, "", None),
        (403, "", Fault("host", "http 403")),
        (429, "", Fault("host", "http 429")),
        (407, "", Fault("proxy", "http 407", certain=True)),
        (0, "proxy: refused", Fault("proxy", "proxy", certain=True)),
        (0, "connect", Fault("proxy", "connect", certain=True)),
        (0, "timeout: after 30 s", Fault("proxy", "timeout")),
        (0, "", Fault("proxy", "no answer")),
    ],
)
def test_faults_by_status_and_error(status: int, error: str, fault: Fault | None) -> None:
    assert BANS.fault(status, error, b"") == fault


def test_bodies_are_searched_at_their_beginning_only() -> None:
    found = BANS.fault(200, "", b"<h1>ARE YOU A ROBOT?</h1>")
    assert found == Fault("host", "body 'Are you a robot'")
    assert BANS.fault(200, "", b" " * 8192 + b"Are you a robot") is None
    assert BANS.fault(200, "", b" " * 8000 + b"Are you a robot") is not None


def test_counts_forget_the_longest_untouched() -> None:
    counts = Counts(most=2)
    assert [counts.add(key) for key in ("a", "b", "a", "c", "a", "b")] == [1, 1, 2, 1, 3, 1]
    counts.clear("b")
    assert counts.add("b") == 1


def test_hosts_are_spread_over_proxies_and_only_those_of_a_lost_one_move() -> None:
    names = [f"p{n}" for n in range(10)]
    all_of_them, without = Ranking(names), Ranking(reversed(names[1:]))
    hosts = [f"h{n}.example" for n in range(2000)]
    firsts = Counter(all_of_them.of(host)[0] for host in hosts)
    assert min(firsts.values()) > 140
    assert max(firsts.values()) < 260
    for host in hosts:
        order = all_of_them.of(host)
        expected = order[0] if order[0] != "p0" else order[1]
        assert without.of(host)[0] == expected


def test_rankings_of_very_many_hosts_are_not_all_kept() -> None:
    ranking = Ranking(["p1", "p2"])
    orders = [ranking.of(f"h{n}") for n in range(5000)]
    assert orders[0] == ranking.of("h0")
    assert len(ranking._orders) < 5000
