from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skitter.lab import Fault, LabSpecError, Web, WebSpec, spec_from, walk
from skitter.lab.dice import zipf_rank
from skitter.lab.spec import spec_values


def test_the_same_seed_makes_the_same_web_and_another_makes_another() -> None:
    links = [Web(WebSpec(seed=seed)).links(3, 4) for seed in (1, 1, 2)]
    assert links[0] == links[1]
    assert links[0] != links[2]


def test_a_known_page_stays_as_it_is_across_releases() -> None:
    assert Web(WebSpec(seed=1, hosts=100)).links(3, 4)[:4] == [
        (3, "/p/9"),
        (3, "/p/10"),
        (3, "/p/7"),
        (3, "/p/17"),
    ]


@given(number=st.integers(0, 10**12 - 1))
def test_a_host_is_found_by_its_name(number: int) -> None:
    web = Web(WebSpec(hosts=10**12, host_pattern="shop{n}.example"))
    assert web.host_number(web.host(number)) == number


@pytest.mark.parametrize("name", ["h5.lab", "h05.lab", "h.lab", "h-1.lab", "x1.lab", "h1.com", ""])
def test_a_name_outside_the_web_is_no_host(name: str) -> None:
    assert Web(WebSpec(hosts=5)).host_number(name) is None


def test_a_page_has_as_many_links_as_asked_for_and_each_once() -> None:
    web = Web(WebSpec(hosts=50, pages=50, links=30))
    for page in range(50):
        links = web.links(7, page)
        assert len(links) == len(set(links)) == 30


@pytest.mark.parametrize("links", [0, 1, 4, 10])
def test_everything_is_reached_from_the_first_page(links: int) -> None:
    web = Web(WebSpec(hosts=13, pages=7, links=links))
    assert len(walk(web).pages) == 13 * 7


def test_hosts_are_linked_by_zipfs_law() -> None:
    ranks = Counter(zipf_rank(n / 10_000, count=1000, exponent=1.0) for n in range(10_000))
    assert 1.5 < ranks[0] / ranks[1] < 2.0
    assert max(ranks) <= 999


@given(
    share=st.floats(0, 1, exclude_max=True),
    count=st.integers(1, 10**9),
    exponent=st.floats(0, 3),
)
def test_a_rank_is_always_among_the_hosts(share: float, count: int, exponent: float) -> None:
    assert 0 <= zipf_rank(share, count=count, exponent=exponent) < count


def test_delays_and_concurrency_go_round_the_hosts_and_a_delay_means_one_at_a_time() -> None:
    web = Web(WebSpec(hosts=10, delays_ms=(0, 500), concurrency=(3, 9, 4)))
    policies = [web.policy(host) for host in web.hosts()]
    assert [(p.delay_ms, p.concurrency) for p in policies if p][:5] == [
        (0, 3),
        (500, 1),
        (0, 4),
        (500, 1),
        (0, 9),
    ]
    assert web.policy("elsewhere.lab") is None


def test_faults_come_at_their_rates_and_never_on_home_pages() -> None:
    web = Web(WebSpec(hosts=100, pages=100, faults=(Fault("404", 0.1), Fault("503", 0.3))))
    kinds = Counter(
        fault.kind if (fault := web.fault(host, page)) else "none"
        for host in range(100)
        for page in range(100)
    )
    assert 800 < kinds["404"] < 1200
    assert 2700 < kinds["503"] < 3300
    assert not any(web.fault(host, 0) for host in range(100))


@pytest.mark.parametrize(
    ("fault", "failing"),
    [
        (Fault("404", 0.1), [True, True, True]),
        (Fault("503", 0.1), [True, False, False]),
        (Fault("reset", 0.1, attempts=2), [True, True, False]),
        (Fault("500", 0.1, attempts=0), [True, True, True]),
    ],
)
def test_a_fault_passes_after_its_attempts(fault: Fault, failing: list[bool]) -> None:
    assert [fault.fails(attempt) for attempt in (1, 2, 3)] == failing


def test_the_graph_leaves_out_what_always_fails_is_forbidden_or_is_a_trap() -> None:
    spec = WebSpec(
        hosts=20,
        pages=20,
        faults=(Fault("404", 0.1), Fault("503", 0.1)),
        private_links=0.3,
        traps=0.3,
        redirects=0.2,
        redirect_loops=0.1,
    )
    graph = walk(Web(spec))
    assert graph.failing
    assert graph.forbidden
    assert graph.traps
    assert any("/loop/" in url for url in graph.redirects)
    assert any("/go/" in url for url in graph.redirects)
    assert not graph.pages & (graph.failing | graph.forbidden | graph.traps | graph.redirects)
    assert not any("/private/" in url or "/calendar/" in url for url in graph.pages)


def test_the_graph_enters_traps_as_deep_as_asked() -> None:
    web = Web(WebSpec(hosts=1, pages=3, traps=1.0))
    shallow, deep = walk(web, trap_depth=1).pages, walk(web, trap_depth=3).pages
    assert {"http://h0.lab/calendar/2026/11", "http://h0.lab/a"} <= shallow
    assert "http://h0.lab/a/a" not in shallow
    assert {"http://h0.lab/a/a/a", "http://h0.lab/calendar/2027/1"} <= deep


def test_seeds_outside_the_web_lead_nowhere() -> None:
    assert not walk(Web(WebSpec()), ["http://elsewhere.example/"]).pages


def test_a_page_changes_once_in_its_period() -> None:
    web = Web(WebSpec(change_s=100))
    editions = [web.edition(1, 2, now_s=float(now)) for now in range(1000, 2000)]
    assert len({edition for edition, _ in editions}) in (10, 11)
    for now, (edition, since) in enumerate(editions, 1000):
        assert 0 <= now - since < 100
        assert web.edition(1, 2, now_s=since + 0.001)[0] == edition


def test_a_spec_survives_being_plain_values() -> None:
    spec = WebSpec(faults=(Fault("404", 0.5),), delays_ms=(0, 10.5), charsets=("shift_jis",))
    assert spec_from(spec_values(spec)) == spec


def test_a_number_as_a_fault_kind_is_understood() -> None:
    assert spec_from({"faults": [{"kind": 404, "rate": 0.5}]}).faults == (Fault("404", 0.5),)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"hosts": 0}, "hosts and pages must be 1 or more"),
        ({"hots": 3}, "hots"),
        ({"hosts": "many"}, "hosts"),
        ({"host_pattern": "h.lab"}, "host_pattern"),
        ({"faults": [{"kind": "418", "rate": 0.1}]}, "unknown fault '418'"),
        ({"faults": [{"kind": "404", "rate": 0.6}, {"kind": "500", "rate": 0.6}]}, "above 1"),
        ({"charsets": ["ebcdic"]}, "ebcdic"),
        ({"latency_ms": [5, 1]}, "latency_ms"),
        ({"delays_ms": []}, "delays_ms"),
        ({"disallow": ["private"]}, "start with /"),
        ({"drip": {"rate": 2}}, "drips"),
        ({"traps": -1}, "traps must be from 0 to 1"),
    ],
)
def test_a_bad_spec_is_refused_by_name(values: dict[str, object], message: str) -> None:
    with pytest.raises(LabSpecError, match=message):
        spec_from(values)
