"""What the fast engine cannot run is refused by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skitter.lab import WebSpec

if TYPE_CHECKING:
    from tests.integration.addon.conftest import StartBench

pytestmark = pytest.mark.integration

SMALL = WebSpec(hosts=1, pages=5, links=0)


@pytest.mark.parametrize(
    "named", ["SCHEDULER", "DOWNLOADER", "DUPEFILTER_CLASS", "DOWNLOADER_CLIENTCONTEXTFACTORY"]
)
async def test_another_part_is_refused(bench: StartBench, named: str) -> None:
    settings = {named: "tests.integration.addon.spiders.One"}
    outcome = bench(SMALL).begin("One", args=None, **settings).outcome()
    assert f"cannot run the spider one: {named} = tests" in outcome.error


async def test_nothing_waits_for_a_reactor_that_nobody_runs(bench: StartBench) -> None:
    pipelines = {"tests.integration.engine.reactor_user.InThread": 1}
    outcome = bench(SMALL).run("One", ITEM_PIPELINES=pipelines)
    assert "forbidden when running without a Twisted reactor" in outcome.log
    assert outcome.stats["finish_reason"] == "finished"


async def test_a_tls_method_is_refused(bench: StartBench) -> None:
    settings = {"DOWNLOADER_CLIENT_TLS_METHOD": "TLSv1.2"}
    outcome = bench(SMALL).begin("One", args=None, **settings).outcome()
    assert "DOWNLOADER_CLIENT_TLS_METHOD = TLSv1.2" in outcome.error
