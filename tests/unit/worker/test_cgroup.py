from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skitter.worker import cgroup

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.unit


@pytest.fixture(autouse=True)
def eight_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "_usable_cores", lambda: 8)


class Group:
    """A made-up /sys/fs/cgroup and /proc/self/cgroup."""

    def __init__(self, folder: Path, *lines: str) -> None:
        self.root = folder / "cgroup"
        self.own = folder / "own"
        self.root.mkdir()
        self.own.write_text("\n".join(lines))

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")

    def cores(self) -> int:
        return cgroup.cores(root=self.root, own=self.own)

    def memory(self) -> int | None:
        return cgroup.memory_limit(root=self.root, own=self.own)


def test_without_cgroups_the_machines_cores_count(tmp_path: Path) -> None:
    group = Group(tmp_path)
    assert group.cores() == 8
    assert group.memory() is None


def test_version_2_bounds(tmp_path: Path) -> None:
    group = Group(tmp_path, "0::/pod/box")
    group.write("pod/box/cpu.max", "250000 100000")
    group.write("pod/box/memory.max", "1073741824")
    assert group.cores() == 3
    assert group.memory() == 1 << 30


def test_the_narrowest_bound_of_all_groups_above_counts(tmp_path: Path) -> None:
    group = Group(tmp_path, "0::/pod/box")
    group.write("pod/box/cpu.max", "max 100000")
    group.write("pod/box/memory.max", "max")
    group.write("pod/cpu.max", "50000 100000")
    group.write("pod/memory.max", "4096")
    assert group.cores() == 1
    assert group.memory() == 4096


def test_version_1_bounds(tmp_path: Path) -> None:
    group = Group(tmp_path, "4:memory:/box", "1:cpu,cpuacct:/box", "0::/")
    group.write("cpu/box/cpu.cfs_quota_us", "400000")
    group.write("cpu/box/cpu.cfs_period_us", "100000")
    group.write("memory/box/memory.limit_in_bytes", "2048")
    group.write("memory/memory.limit_in_bytes", "9223372036854771712")
    assert group.cores() == 4
    assert group.memory() == 2048


def test_version_1_without_bounds(tmp_path: Path) -> None:
    group = Group(tmp_path, "4:memory:/", "1:cpu:/")
    group.write("cpu/cpu.cfs_quota_us", "-1")
    group.write("cpu/cpu.cfs_period_us", "100000")
    group.write("memory/memory.limit_in_bytes", "9223372036854771712")
    assert group.cores() == 8
    assert group.memory() is None


def test_a_quota_above_the_cores_changes_nothing(tmp_path: Path) -> None:
    group = Group(tmp_path, "0::/")
    group.write("cpu.max", "6400000 100000")
    assert group.cores() == 8
