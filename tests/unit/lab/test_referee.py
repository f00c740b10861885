from __future__ import annotations

import itertools

import pytest

from skitter.lab import Fault, Judging, Referee, Verdict, Web, WebSpec, walk
from skitter.lab.referee import Visit

MS = 1_000_000


class Bench:
    """A referee with a clock that stands still until it is told to go on."""

    def __init__(self, spec: WebSpec, judging: Judging | None = None) -> None:
        self.web = Web(spec)
        self.now_ns = 1_000 * MS
        self.referee = Referee(self.web, judging, now_ns=lambda: self.now_ns)

    def wait(self, ms: float) -> None:
        self.now_ns += int(ms * MS)

    def arrive(
        self, url: str = "http://h0.lab/", *, client: str = "127.0.0.1", there: bool = True
    ) -> Visit:
        host, _, path = url.removeprefix("http://").partition("/")
        return self.referee.arrive(
            host=host,
            target=f"/{path}",
            method="GET",
            client=client,
            there=lambda: there,
            at_ns=self.now_ns,
        )

    def answer(self, visit: Visit, status: int = 200) -> None:
        self.referee.head(visit, status=status)
        self.referee.end(visit, whole=True)

    def fetch(
        self, url: str = "http://h0.lab/", status: int = 200, *, client: str = "127.0.0.1"
    ) -> None:
        self.answer(self.arrive(url, client=client), status)

    def verdict(self) -> Verdict:
        return self.referee.verdict(walk(self.web))


def test_a_gap_is_measured_from_the_answers_head_to_the_next_arrival() -> None:
    bench = Bench(WebSpec(delays_ms=(100,)))
    visit = bench.arrive()
    bench.wait(500)
    bench.referee.head(visit, status=200)
    bench.wait(100)
    other = bench.arrive("http://h0.lab/p/1")
    bench.answer(other)
    bench.wait(99.9)
    bench.fetch("http://h0.lab/p/2")
    verdict = bench.verdict()
    assert verdict.gaps.count == 1
    assert verdict.gaps.first[0]["url"] == "http://h0.lab/p/2"
    assert verdict.gaps.first[0]["gap_ms"] == pytest.approx(99.9)
    assert verdict.tightest_margin_ms == pytest.approx(-0.1)
    assert (verdict.violations, verdict.polite) == (1, False)


def test_a_tolerance_forgives_that_much() -> None:
    bench = Bench(WebSpec(delays_ms=(100,)), Judging(tolerance_ms=1))
    for wait_ms in (0, 99.5, 98):
        bench.wait(wait_ms)
        bench.fetch(f"http://h0.lab/?{wait_ms}")
    assert bench.verdict().gaps.count == 1


def test_hosts_keep_time_by_themselves() -> None:
    bench = Bench(WebSpec(hosts=5, delays_ms=(100,)))
    for host in range(5):
        bench.fetch(f"http://h{host}.lab/")
    assert bench.verdict().polite


@pytest.mark.parametrize(("per_client", "gaps"), [(False, 1), (True, 0)])
def test_clients_share_a_pace_unless_each_is_judged_by_itself(per_client: bool, gaps: int) -> None:
    bench = Bench(WebSpec(delays_ms=(100,)), Judging(per_client_address=per_client))
    bench.fetch(client="127.0.0.1")
    bench.fetch("http://h0.lab/p/1", client="127.0.0.2")
    assert bench.verdict().gaps.count == gaps


def test_with_a_delay_a_request_is_in_flight_until_its_head() -> None:
    bench = Bench(WebSpec(delays_ms=(100,)))
    first = bench.arrive()
    bench.wait(1000)
    second = bench.arrive("http://h0.lab/p/1")
    assert bench.verdict().concurrency.count == 1
    bench.referee.head(first, status=200)
    bench.referee.head(second, status=200)
    bench.wait(100)
    bench.arrive("http://h0.lab/p/2")
    assert bench.verdict().violations == 1


def test_without_a_delay_a_request_is_in_flight_until_its_body_is_out() -> None:
    bench = Bench(WebSpec(concurrency=(2,)))
    visits = [bench.arrive(f"http://h0.lab/p/{number}") for number in (1, 2)]
    bench.referee.head(visits[0], status=200)
    bench.arrive("http://h0.lab/p/3")
    finding = bench.verdict().concurrency
    assert (finding.count, finding.first[0]["in_flight"], finding.first[0]["allowed"]) == (1, 3, 2)


def test_an_answer_that_ends_makes_room() -> None:
    bench = Bench(WebSpec(concurrency=(2,)))
    visits = [bench.arrive(f"http://h0.lab/p/{number}") for number in (1, 2)]
    bench.answer(visits[0])
    bench.arrive("http://h0.lab/p/3")
    assert bench.verdict().polite


def test_a_client_that_has_left_takes_up_no_room() -> None:
    bench = Bench(WebSpec(concurrency=(1,)))
    bench.arrive(there=False)
    bench.arrive("http://h0.lab/p/1")
    assert bench.verdict().polite
    assert bench.verdict().statuses == {"disconnected": 1}


@pytest.mark.parametrize(("wait_ms", "gaps"), [(99, 0), (60, 0), (40, 1)])
def test_a_hang_up_ends_a_request_with_a_tolerance_of_its_own(wait_ms: float, gaps: int) -> None:
    bench = Bench(WebSpec(delays_ms=(100,)))
    bench.referee.disconnect(bench.arrive())
    bench.wait(wait_ms)
    bench.fetch()
    assert (bench.verdict().gaps.count, bench.verdict().tightest_margin_ms) == (gaps, None)


def test_a_cut_by_the_server_ends_a_request_to_the_nanosecond() -> None:
    bench = Bench(WebSpec(delays_ms=(100,)))
    bench.referee.cut(bench.arrive(), kind="reset")
    bench.wait(99)
    bench.fetch()
    assert bench.verdict().gaps.count == 1


def test_robots_txt_counts_for_pace_but_never_as_a_duplicate() -> None:
    bench = Bench(WebSpec(delays_ms=(100,)))
    bench.fetch("http://h0.lab/robots.txt")
    bench.fetch("http://h0.lab/robots.txt")
    assert (bench.verdict().gaps.count, bench.verdict().duplicates.count) == (1, 0)


def test_disallowed_paths_are_found_unless_there_is_no_robots_txt() -> None:
    for robots, count in ((True, 1), (False, 0)):
        bench = Bench(WebSpec(robots=robots))
        bench.fetch("http://h0.lab/private/3")
        assert bench.verdict().disallowed.count == count


def test_a_second_whole_200_is_a_duplicate_and_a_try_after_a_fault_is_a_retry() -> None:
    bench = Bench(WebSpec())
    bench.fetch("http://h0.lab/p/1", 503)
    cut = bench.arrive("http://h0.lab/p/1")
    bench.referee.head(cut, status=200)
    bench.referee.cut(cut, kind="truncated")
    bench.fetch("http://h0.lab/p/1")
    bench.fetch("http://h0.lab/p/1", 304)
    bench.fetch("http://h0.lab/p/1")
    verdict = bench.verdict()
    assert (verdict.retries, verdict.duplicates.count) == (2, 1)
    assert verdict.statuses == {"200": 2, "304": 1, "503": 1, "truncated": 1}


def test_coverage_is_measured_against_the_graph() -> None:
    bench = Bench(WebSpec(hosts=2, pages=5, faults=(Fault("404", 0.3),)))
    pages = sorted(walk(bench.web).pages)
    for url in pages[1:]:
        bench.fetch(url)
    coverage = bench.verdict().coverage
    assert coverage is not None
    assert (coverage.expected, coverage.answered) == (len(pages), len(pages) - 1)
    assert coverage.missing == [pages[0]]
    assert 0 < coverage.share < 1


def test_every_finding_is_counted_and_the_first_ones_are_kept() -> None:
    bench = Bench(WebSpec(), Judging(keep=3))
    for number in range(10):
        bench.fetch(f"http://h0.lab/private/{number}")
    finding = bench.verdict().disallowed
    assert finding.count == 10
    assert [example["url"][-1] for example in finding.first] == ["0", "1", "2"]


def test_a_reset_forgets_also_what_is_on_its_way() -> None:
    bench = Bench(WebSpec(delays_ms=(100,)), Judging(log=10))
    visit = bench.arrive()
    bench.referee.reset()
    bench.answer(visit)
    bench.fetch()
    verdict = bench.verdict()
    assert (verdict.requests, verdict.statuses, verdict.polite) == (1, {"200": 1}, True)
    assert len(list(bench.referee.log())) == 1


def test_the_log_keeps_the_latest() -> None:
    bench = Bench(WebSpec(), Judging(log=2))
    for number in range(4):
        bench.fetch(f"http://h0.lab/p/{number}")
    assert [entry["url"][-1] for entry in bench.referee.log()] == ["2", "3"]


def test_unknown_hosts_are_counted_but_have_no_policy() -> None:
    bench = Bench(WebSpec(delays_ms=(100,)))
    for _ in itertools.repeat(None, 3):
        bench.fetch("http://elsewhere.lab/private/x", 404)
    assert (bench.verdict().requests, bench.verdict().violations) == (3, 0)


def test_a_verdict_survives_json_and_becomes_a_table() -> None:
    bench = Bench(WebSpec(delays_ms=(100,)))
    bench.fetch()
    bench.fetch()
    verdict = bench.verdict()
    assert Verdict.from_json(verdict.to_json()) == verdict
    assert verdict.to_json()["violations"] == 1
    assert verdict.table().row_count == 9
