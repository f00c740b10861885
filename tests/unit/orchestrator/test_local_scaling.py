from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skitter.errors import SettingsError
from skitter.orchestrator.autoscaler import bounds_of
from skitter.orchestrator.local_driver import memory_left
from skitter.orchestrator.local_scaling import autoscale_flags
from skitter.settings.orchestration import AutoscaleSettings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("text", "low", "high"), [("0-8", 0, 8), ("2-2", 2, 2), (" 1-16 ", 1, 16)])
def test_bounds_are_written_as_a_range(text: str, low: int, high: int) -> None:
    assert autoscale_flags(text) == {"autoscale.minimum": low, "autoscale.maximum": high}


@pytest.mark.parametrize("text", ["8", "8-2", "0-0", "-1-3", "a-b", "1-", "0-99999"])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="is not like 0-8"):
        autoscale_flags(text)


def test_nothing_said_is_nothing_set() -> None:
    assert autoscale_flags("") == {}


def test_the_cores_are_the_most_unless_told() -> None:
    assert bounds_of(AutoscaleSettings(), cores=4).maximum == 4
    assert bounds_of(AutoscaleSettings(maximum=9), cores=4).maximum == 9
    assert bounds_of(AutoscaleSettings(minimum=6), cores=4).maximum == 6


def test_memory_is_what_the_machine_and_the_cgroup_leave(tmp_path: Path) -> None:
    path = tmp_path / "meminfo"
    path.write_text("MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 600 kB\n")
    assert memory_left(0, limit=None, meminfo=path) == 500 * 1024
    assert memory_left(100 * 1024, limit=200 * 1024, meminfo=path) == 80 * 1024
    assert memory_left(300 * 1024, limit=200 * 1024, meminfo=path) < 0  # type: ignore[operator]
    path.write_text("nothing of it")
    assert memory_left(0, limit=None, meminfo=path) is None
    assert memory_left(0, limit=100, meminfo=path) == 90
