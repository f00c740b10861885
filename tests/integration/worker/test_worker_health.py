"""A worker with a port of its own says how it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.request import ProxyHandler, build_opener

import pytest

from tests.wait import wait_until

if TYPE_CHECKING:
    from tests.integration.worker.crew import Crew

pytestmark = pytest.mark.integration


async def test_a_worker_tells_its_health(crew: Crew) -> None:
    worker = crew.start("--health-port", "0")
    await crew.said(state="running")
    pattern = r"health is told\s.*address=(\S+)"
    found = wait_until(lambda: re.search(pattern, worker.log()), timeout_s=30)
    address = re.sub(r"\x1b\[[0-9;]*m", "", found[1])
    opener = build_opener(ProxyHandler({}))
    with opener.open(f"{address}/health/ready", timeout=30) as reply:
        assert reply.status == 200
    with opener.open(f"{address}/metrics", timeout=30) as reply:
        text = reply.read().decode()
    assert "skitter_worker_processes 1.0" in text
    assert 'skitter_worker_busy{worker="w0.1"}' in text
    assert worker.stop() == 0
