"""`skitter up` on one machine: a job by curl, and everything killed in the middle of a crawl."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skitter.lab import ShopSpec, WebSpec
from tests.integration.cli.crawls import Crawls
from tests.wait import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skitter.lab.pytest_plugin import StartLabProcess

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(300)]

HOSTS, PAGES, PRODUCTS = 12, 40, 30


class Api:
    """The API of a `skitter up`, by curl."""

    def __init__(self, url: str, key: str) -> None:
        self.url = url
        self.key = key

    def ask(self, path: str, body: dict[str, Any] | None = None) -> str:
        sent = ["-d", json.dumps(body), "-H", "Content-Type: application/json"] if body else []
        curl = ["curl", "-sS", "--fail-with-body", "--noproxy", "*", "--max-time", "30"]
        done = subprocess.run(
            [*curl, "-H", f"Authorization: Bearer {self.key}", *sent, f"{self.url}{path}"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def job(self, job: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.ask(f"/api/v1/jobs/{job}"))
        return found

    def ended(self, job: str) -> dict[str, Any]:
        def look() -> dict[str, Any] | None:
            found = self.job(job)
            return found if found["state"] == "ended" else None

        return wait_until(look, timeout_s=150, what=f"{job} has ended")


@pytest.fixture
def crawls(lab_process: StartLabProcess, tmp_path: Path) -> Iterator[Crawls]:
    if not shutil.which("curl"):
        pytest.skip("there is no curl")
    spec = WebSpec(
        hosts=HOSTS,
        pages=PAGES,
        links=8,
        delays_ms=(40.0, 0.0),
        latency_ms=(2.0, 10.0),
        private_links=0.1,
        shop=ShopSpec(products=PRODUCTS, locales=("en-US",)),
    )
    found = Crawls(tmp_path, lab_process(spec))
    yield found
    print(found.err())
    found.close()


def start(crawls: Crawls, key: str = "") -> tuple[subprocess.Popen[bytes], Api]:
    process = crawls.start("up", "--port", "0", "--json", worker__heartbeat_s="0.5")
    line = wait_until(
        lambda: crawls.out() if crawls.out().endswith("\n") else "", timeout_s=90, what="it is up"
    )
    told = json.loads(line)
    assert told["url"].startswith("http://127.0.0.1:")
    assert bool(told["key"]) is not bool(key)  # it is told once
    return process, Api(told["url"], told["key"] or key)


def test_a_job_by_curl_completes_and_exports(crawls: Crawls) -> None:
    process, api = start(crawls)
    body = {
        "id": "shop",
        "spider": "ecommerce",
        "seeds": [crawls.lab.url("shop-us.lab")],
        "on_end": [{"kind": "export", "options": {"to": "shop.csv"}}],
    }
    assert json.loads(api.ask("/api/v1/jobs", body))["state"] in ("queued", "running")
    job = api.ended("shop")
    assert job["outcome"] == "finished", job
    lines = api.ask("/api/v1/items/export?job=shop&format=jsonl").splitlines()
    names = {json.loads(line)["sku"] for line in lines}
    truth = {row["sku"] for row in crawls.lab.shop_truth(host="shop-us.lab")}
    assert names
    assert names <= truth
    wait_until(lambda: list(crawls.folder.rglob("shop.csv")), timeout_s=30, what="it is exported")
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0, crawls.err()
    assert crawls.lab.verdict(coverage=False).polite


def test_all_is_killed_in_mid_crawl_and_goes_on(crawls: Crawls) -> None:
    process, api = start(crawls)
    for number in range(2):
        seeds = [crawls.lab.url(host) for host in range(number, HOSTS, 2)]
        body = {"id": f"job{number}", "spider": "link", "seeds": seeds, "args": {"depth": "99"}}
        api.ask("/api/v1/jobs", body)
    wait_until(lambda: crawls.fetched() > 100, timeout_s=90, what="it crawls")
    assert crawls.kill_all(process) >= 4  # this one, a worker, the server and its guard
    process, api = start(crawls, key=api.key)
    for number in range(2):
        job = api.ended(f"job{number}")
        assert (job["outcome"], job["figures"]["buried"]) == ("finished", 0), job
    verdict = crawls.lab.verdict()
    assert verdict.polite, verdict
    assert verdict.coverage
    assert verdict.coverage.missing == []
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0, crawls.err()
