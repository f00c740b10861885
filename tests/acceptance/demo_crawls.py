"""Runs the spiders that come with Skitter against a lab, on either engine, into any sink."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.integration.addon.crawling import Crawling

if TYPE_CHECKING:
    from skitter.lab import LabProcess


class DemoCrawls:
    """Crawls of one lab into one sink."""

    def __init__(self, lab: LabProcess, *, sink: str, server: str, namespace: str) -> None:
        self.lab = lab
        self.sink = sink
        self._settings: dict[str, Any] = {
            "TELNETCONSOLE_ENABLED": False,
            "LOG_LEVEL": "INFO",
            "SKITTER": {
                "redis.url": server,
                "redis.namespace": namespace,
                "items.sink": sink,
                "fetch.resolve": [lab.rule],
                "politeness.delay_s": 0,
                "politeness.latency_factor": 0,
                "frontier.caretaker_tick_s": 0.1,
            },
        }

    def crawl(self, engine: str, spider: str, *, job: str = "", **args: str) -> None:
        """Crawl until the job has ended; nothing is in quarantine."""
        fast = engine == "fast"
        settings = self._settings | ({} if fast else {"ADDONS": {"skitter.addon.Addon": 500}})
        settings |= {"SKITTER_JOB": job} if job else {}
        path = f"{spider}.{spider.capitalize()}Spider"
        crawling = Crawling(path, settings, args, fast=fast, module="skitter.spiders")
        try:
            outcome = crawling.outcome()
        finally:
            crawling.kill()
        assert not outcome.error, outcome.error
        assert "skitter/quarantined" not in outcome.stats, outcome.log
