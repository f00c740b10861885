from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psutil
import pytest

from skitter.lab import Fault, Judging, LabProcess, LabSpecError, WebSpec
from tests.wait import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from skitter.lab.pytest_plugin import StartLabProcess

CLI = "from skitter.cli.lab import app; app()"


def fetch(proxy: str, url: str) -> bytes:
    proxies = {"http": proxy} if proxy else {}
    opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies))
    with opener.open(url, timeout=30) as answer:
        body: bytes = answer.read()
    return body


def test_a_lab_in_another_process_serves_and_judges(lab_process: StartLabProcess) -> None:
    web = lab_process(
        WebSpec(hosts=2, pages=3, faults=(Fault("404", 0.4),)), judging=Judging(log=5)
    )
    assert b"Page 0 of h1.lab" in fetch(web.proxy, web.url(1))
    verdict = web.verdict()
    assert verdict.coverage is not None
    assert (verdict.requests, verdict.coverage.answered) == (1, 1)
    assert web.url(1) in web.expected()
    assert [entry["url"] for entry in web.requests()] == [web.url(1)]
    web.reset()
    assert web.verdict(coverage=False).requests == 0


def test_pages_rendered_beforehand_are_judged_too(lab_process: StartLabProcess) -> None:
    web = lab_process(WebSpec(hosts=2, pages=2), prerender=4)
    for host in (0, 1):
        for path in ("/", "/p/1"):
            fetch(web.proxy, web.url(host, path))
    verdict = web.verdict()
    assert verdict.coverage is not None
    assert verdict.coverage.share == 1.0


def test_a_lab_that_cannot_listen_says_so(lab_process: StartLabProcess) -> None:
    web = lab_process()
    with pytest.raises(LabSpecError, match="cannot listen"):
        LabProcess(port=web.port).start()


def test_a_lab_that_is_not_running_says_so() -> None:
    with pytest.raises(LabSpecError, match="not running"):
        LabProcess().verdict()


def test_a_killed_parent_leaves_no_lab_behind() -> None:
    program = (
        "from skitter.lab import LabProcess\n"
        "with LabProcess() as lab:\n    print(lab.pid, flush=True)\n    input()"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        assert psutil.pid_exists(child)
        parent.kill()
    wait_until(lambda: not psutil.pid_exists(child) or _is_zombie(child), what="the lab's end")


def _is_zombie(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_until_told_to_end_and_prints_the_verdict(
    number: signal.Signals,
) -> None:
    options = ["serve", "--port", "0", "--json", "--hosts", "3", "--pages", "2", "--delay", "0.5"]
    with _command(options) as command:
        assert command.stdout
        facts = json.loads(command.stdout.readline())
        proxy = f"http://{facts['address']}:{facts['port']}"
        assert b"Crawl-delay: 0.5" in fetch(proxy, "http://h2.lab/robots.txt")
        fetch(proxy, facts["first"])
        os.kill(command.pid, number)
        out, _ = command.communicate(timeout=30)
    verdict = json.loads(out)
    assert (verdict["requests"], verdict["coverage"]["expected"]) == (2, 6)
    assert command.returncode == 0


def test_the_command_reads_a_file_and_flags_win(tmp_path: Path) -> None:
    file = tmp_path / "lab.yaml"
    file.write_text("hosts: 2\npages: 5\nfaults:\n  - {kind: 404, rate: 1.0}\n")
    options = ["serve", "--port", "0", "--spec", str(file), "--pages", "4", "--set", "zipf=0.5"]
    with _command([*options, "--fault", "503=0.25:2"]) as command:
        assert command.stdout
        lines = [command.stdout.readline() for _ in range(7)]
        address = lines[0].split(" on ")[1].split(",")[0]
        spec = json.loads(fetch("", f"{address}/__referee__/spec"))
        command.send_signal(signal.SIGINT)
        out, _ = command.communicate(timeout=30)
    assert (spec["hosts"], spec["pages"], spec["zipf"]) == (2, 4, 0.5)
    assert [(fault["kind"], fault["attempts"]) for fault in spec["faults"]] == [("503", 2)]
    assert "curl -x" in lines[1]
    assert "The referee's verdict: polite" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set", "zpif=1"], "zpif"),
        (["--set", "zipf"], "is not NAME=VALUE"),
        (["--fault", "503"], "KIND=RATE"),
        (["--hosts", "0"], "1 or more"),
        (["--spec", "missing.yaml"], "cannot read missing.yaml"),
    ],
)
def test_the_command_refuses_what_it_cannot_serve(options: list[str], message: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CLI, "serve", *options],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        env=os.environ | {"COLUMNS": "200"},
    )
    assert done.returncode == 2
    assert message in done.stderr


@contextmanager
def _command(options: list[str]) -> Iterator[subprocess.Popen[str]]:
    """The command as a process of its own, which a failing test does not leave behind."""
    arguments = [sys.executable, "-c", CLI, *options]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as command:
        try:
            yield command
        finally:
            command.kill()
