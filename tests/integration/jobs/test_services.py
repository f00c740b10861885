"""The services that shells share: opened together, and strict about what is submitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from skitter.jobs.submission import Submission
from skitter.service_errors import BadSubmission
from skitter.services import open_services
from skitter.settings import load_settings

if TYPE_CHECKING:
    from pathlib import Path

    from skitter.settings import Settings


@pytest.fixture
def settings(server_url: str, namespace: str, tmp_path: Path) -> Settings:
    return load_settings(
        {
            "redis.url": server_url,
            "redis.namespace": namespace,
            "store.url": f"sqlite:{tmp_path}/kept.db",
            "jobs.sinks": f"jsonl:{tmp_path}/ sqlite:",
        }
    )


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"sinks": ("nonsense:x",)}, "nonsense"),
        ({"sinks": ("csv:/elsewhere",)}, r"jobs\.sinks"),
        ({"sinks": ("sqlite:../up.db",)}, r"jobs\.sinks"),
        ({"gates": {"colour": 1}}, "colour"),
        ({"gates": "nonsense"}, "nonsense"),
    ],
)
async def test_what_no_worker_could_do_is_refused(
    settings: Settings, fields: dict[str, Any], reason: str
) -> None:
    async with open_services(settings, worker="shell", guest=True) as services:
        with pytest.raises(BadSubmission, match=reason):
            await services.jobs.submit(Submission(spider="books", **fields))
        assert await services.frontier.jobs.live() == []


async def test_what_is_kept_is_there_for_who_comes_later(settings: Settings) -> None:
    async with open_services(settings, worker="one", guest=True) as services:
        fields: dict[str, Any] = {"sinks": ("sqlite:mine.db",), "gates": "usual"}
        job = (await services.jobs.submit(Submission(spider="books", **fields))).id
    async with open_services(settings, worker="two", guest=True) as services:
        shown = await services.jobs.show(job)
        assert shown.submission is not None
        assert shown.submission.sinks == ("sqlite:mine.db",)
