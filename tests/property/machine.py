"""The rules that hypothesis chooses from: every public call, with answers that the model knows."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from skitter.errors import JobEnded
from skitter.frontier import Fetch, HostPolicy, Lease, Settlement
from tests.property import lease_rules
from tests.property.draws import (
    HOSTS,
    LEASE_MS,
    fetches,
    jobs_given,
    pages_given,
    picks,
    policies,
    workers,
)
from tests.property.model import ModelLease
from tests.property.side_by_side import LANES, SideBySide


class FrontierMachine(SideBySide):
    """Every rule does one thing to both, and compares what they answer."""

    @rule(facts=jobs_given)
    @precondition(lambda self: len(self.model.jobs) < 5)
    def submit_another(self, facts: dict[str, Any]) -> None:
        self.submit(facts)

    @rule(pick=picks, pages=pages_given)
    def add(self, pick: int, pages: list[tuple[str, int, int, bool]]) -> None:
        requests, expected = self.make(self.pick_job(pick), pages, None)
        results = self.do(self.frontier.add(requests)).results
        assert results == expected, (results, expected)

    @rule(pick=picks, host=st.sampled_from(HOSTS), page=st.integers(0, 7))
    def forget(self, pick: int, host: str, page: int) -> None:
        job, url = self.pick_job(pick), f"https://{host}/{page}"
        if self.model.jobs[job].state != "ended":
            known = self.model.forget(job, url)
            assert self.do(self.frontier.forget(job, [url])) == known

    @rule(worker=workers, count=st.integers(1, 12), both=st.booleans())
    def lease(self, worker: str, count: int, both: bool) -> None:
        self.ask(worker, count=count, lanes=LANES if both else {min(LANES)})

    @rule(worker=workers)
    def lease_finds_what_there_is(self, worker: str) -> None:
        self.tick()
        for _ in range(4):
            self.step_clock(2)
            self.model.promote()
            there = lease_rules.leasable(self.model, LANES)
            if self.ask(worker, count=1, lanes=LANES) or not there:
                return
        raise AssertionError(f"nobody was given one of {there}")

    @rule(pick=picks, fetch=fetches)
    def fetched(self, pick: int, fetch: Fetch) -> None:
        if token := self.pick_lease(pick, permits=True):
            held = token in self.model.leases
            frontier = self.frontiers[self.tokens[token]]
            assert self.do(frontier.fetched([(self.leases[token], fetch)])) == [held]
            if held:
                self.model.give_back(token, fetch)
                if self.model.leases[token].serial is None:
                    del self.model.leases[token]

    @rule(
        pick=picks,
        outcome=st.sampled_from(["done", "done", "retry", "bury"]),
        fetch=st.one_of(st.none(), fetches),
        page=st.booleans(),
        children=pages_given,
        wait_ms=st.sampled_from([0, 700, 5000]),
    )
    def settle(
        self,
        pick: int,
        outcome: Any,
        fetch: Fetch | None,
        page: bool,
        children: list[tuple[str, int, int, bool]],
        wait_ms: int,
    ) -> None:
        if (token := self.pick_lease(pick)) is None:
            return
        lease = self.leases[token]
        assert isinstance(lease, Lease)
        parent = self.model.items[lease.request.meta["n"]]
        requests, _ = self.make(parent.job, children, parent)
        settlement = Settlement(
            lease,
            outcome=outcome,
            fetch=fetch,
            page=page,
            children=requests,
            retry_ms=wait_ms,
            reason="http 500",
        )
        taken = self.do(self.frontiers[self.tokens[token]].settle([settlement]))
        assert taken == [self.model.settle(token, outcome, page=page, fetch=fetch)]
        if taken == [True]:
            self.model.delay(parent.serial, wait_ms)

    @rule(picked=st.lists(picks, max_size=4), worker=workers)
    def renew(self, picked: list[int], worker: str) -> None:
        tokens = self.mine(picked, worker)
        answers = self.do(self.frontiers[worker].renew([self.leases[token] for token in tokens]))
        for token, answer in zip(tokens, answers, strict=True):
            assert answer.answer == self.expected_renewal(token), token
            if answer.answer != "gone":
                self.model.leases[token].deadline_ms = self.now_ms + LEASE_MS
            if answer.answer == "kept":
                host = self.model.host(self.model.leases[token].host)
                assert answer.delay_ms == host.delay_ms

    def expected_renewal(self, token: str) -> str:
        lease: ModelLease | None = self.model.leases.get(token)
        if lease is None:
            return "gone"
        if lease.serial is None:
            return "kept"
        state = self.model.jobs[self.model.items[lease.serial].job].state
        return "kept" if state == "running" else "give back"

    @rule(picked=st.lists(picks, max_size=5), worker=workers)
    def release(self, picked: list[int], worker: str) -> None:
        tokens = self.mine(picked, worker)
        answers = self.do(self.frontiers[worker].release([self.leases[token] for token in tokens]))
        assert answers == self.model.release(tokens)

    def mine(self, picked: list[int], worker: str) -> list[str]:
        """Different tokens of a worker, in some order."""
        tokens = [self.pick_lease(pick, permits=True) for pick in picked]
        return list(dict.fromkeys(t for t in tokens if t and self.tokens[t] == worker))

    @rule(worker=workers, host=st.sampled_from(HOSTS))
    def permit(self, worker: str, host: str) -> None:
        self.ask_permit(worker, host)

    @rule(host=st.sampled_from(HOSTS), late_ms=st.integers(0, 600))
    def permit_is_next(self, host: str, late_ms: int) -> None:
        """A turn that was denied to a permit is not handed to others as soon as it comes."""
        wait_ms = self.ask_permit("w1", host)
        if 0 < wait_ms + late_ms < LEASE_MS // 2:
            self.step_clock(wait_ms + late_ms)
        self.ask("w2", count=5, lanes=LANES)
        self.ask_permit("w1", host)

    def ask_permit(self, worker: str, host: str) -> int:
        permit = self.do(self.frontiers[worker].permit(host))
        state = self.model.host(host)
        assert permit.wait_ms == state.permit_wait_ms(self.now_ms), (permit, state)
        assert permit.delay_ms == state.delay_ms, (permit, state)
        if permit.granted:
            self.leases[permit.token], self.tokens[permit.token] = permit, worker
            self.model.leases[permit.token] = ModelLease(worker, host, None, self.now_ms + LEASE_MS)
        return permit.wait_ms

    @rule(worker=workers)
    def reap_worker(self, worker: str) -> None:
        assert self.do(self.frontier.reap(worker)) == self.model.reap(worker)

    @rule(pick=picks, verb=st.sampled_from(["pause", "resume", "resume", "pause", "stop"]))
    def change(self, pick: int, verb: str) -> None:
        name = self.pick_job(pick)
        job = self.model.jobs[name]
        call = getattr(self.frontier.jobs, verb)
        if job.state == "ended" and verb != "stop":
            try:
                self.do(call(name))
            except JobEnded:
                return
            raise AssertionError(f"{verb} of an ended job was not refused")
        record = self.do(call(name))
        if verb == "stop":
            self.model.end(name, "cancelled")
        else:
            job.state = {"pause": "paused", "resume": "running"}[verb]
        assert (record.state, record.outcome) == (job.state, job.outcome)

    @rule(pick=picks, priority=st.sampled_from([-3, 0, 1, 3]))
    def reprioritise(self, pick: int, priority: int) -> None:
        name = self.pick_job(pick)
        if self.model.jobs[name].state != "ended":
            self.do(self.frontier.jobs.reprioritise(name, priority))
            self.model.jobs[name].priority = priority

    @rule(pick=picks)
    def release_hold(self, pick: int) -> None:
        self.let_go(self.pick_job(pick))

    @rule(host=st.sampled_from(HOSTS), policy=policies)
    def set_policy(self, host: str, policy: HostPolicy) -> None:
        delay_ms = self.do(self.frontier.hosts.set_policy(host, policy))
        assert delay_ms == self.model.set_policy(host, policy)

    @rule(host=st.sampled_from(HOSTS))
    def clear_policy(self, host: str) -> None:
        delay_ms = self.do(self.frontier.hosts.clear_policy(host))
        assert delay_ms == self.model.host(host).clear_policy()

    @rule(pick=picks, replay=st.booleans())
    def dead_letter(self, pick: int, replay: bool) -> None:
        letters = self.do(self.frontier.dead.find())
        serials = sorted(letter.request.meta["n"] for letter in letters if letter.request)
        assert serials == sorted(self.model.letters)
        if not letters:
            return
        letter = letters[pick % len(letters)]
        assert letter.request is not None
        serial = letter.request.meta["n"]
        assert letter.attempts == self.model.items[serial].attempts
        if replay:
            answer = self.do(self.frontier.dead.replay([letter, letter]))[0]
            assert answer == self.model.replay(serial)
        else:
            assert self.do(self.frontier.dead.discard([letter])) == [True]
            self.model.letters.discard(serial)

    @rule(ms=st.integers(1, LEASE_MS // 2 - 1))
    def wait(self, ms: int) -> None:
        self.step_clock(ms)

    @rule()
    def tend(self) -> None:
        self.tick()
