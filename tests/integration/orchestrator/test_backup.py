"""A busy crawl is backed up, everything of it is deleted, and it ends as if nothing had been."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skitter.jobs.submission import Submission
from skitter.lab import WebSpec
from skitter.orchestrator.backup import backup, read_manifest, restore
from skitter.orchestrator.errors import BackupError, RestoreRefused
from skitter.orchestrator.schedule import Schedule
from skitter.services import open_services
from skitter.settings import Settings, load_settings
from skitter.sinks import read_items
from tests.servers.postgres import PostgresProcess
from tests.wait import wait_until_async

if TYPE_CHECKING:
    from skitter.lab import LabProcess
    from skitter.lab.pytest_plugin import StartLabProcess
    from skitter.services import Services

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

SKITTER = Path(sys.executable).parent / "skitter"
ROOT = Path(__file__).parents[3]
SPEC = WebSpec(hosts=40, pages=25, delays_ms=(300, 600), latency_ms=(5, 50))
PAGES = 40 * 25


class Site:
    """A project's folder with its embedded server, and commands run in it."""

    def __init__(self, folder: Path, lab: LabProcess) -> None:
        self.data = folder / "data"
        self.given = {
            "embedded.dir": str(self.data),
            "store.url": f"sqlite:{self.data}/skitter.db",
            "items.sink": f"sqlite:{self.data}/items.db",
            "frontier.lease_s": "4",
            "frontier.renew_margin_s": "1",
            "politeness.delay_s": "0.1",
            "worker.processes": "2",
            "log.level": "error",
            "fetch.resolve": lab.rule,
        }
        self.log = (folder / "log").open("ab")
        self.processes: list[subprocess.Popen[bytes]] = []

    def command(self, *words: str) -> list[str]:
        flags = [word for pair in self.given.items() for word in ("--set", "=".join(pair))]
        return [str(SKITTER), *words, *flags]

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        self.processes.append(
            subprocess.Popen(
                self.command(*words), cwd=ROOT, stdin=subprocess.DEVNULL, stdout=self.log,
                stderr=self.log, process_group=0,
            )
        )  # fmt: skip
        return self.processes[-1]

    def run(self, *words: str) -> dict[str, Any]:
        done = subprocess.run(
            self.command(*words, "--json"), cwd=ROOT, capture_output=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stderr.decode()
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def kill_all(self) -> None:
        """Workers, their children and the server, without a word."""
        ours = [child for child in _children_of(self.processes) if _pid_alive(child)]
        pid = self.data / "server.pid"
        server = [int(pid.read_text())] if pid.exists() else []
        for number in [*(process.pid for process in self.processes), *ours, *server]:
            _kill(number)
        for process in self.processes:
            process.wait(30)
        self.processes = []

    def settings(self) -> Settings:
        return load_settings(dict(self.given))


def _children_of(processes: list[subprocess.Popen[bytes]]) -> list[int]:
    parents = {process.pid for process in processes}
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(") ", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) in parents:
            found.append(int(stat.parent.name))
    return found


def _pid_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def _kill(pid: int) -> None:
    try:
        os.kill(pid, 9)
    except ProcessLookupError:
        return


async def test_a_busy_crawl_that_was_deleted_ends_with_everything(
    lab_process: StartLabProcess, tmp_path: Path
) -> None:
    lab = lab_process(SPEC)
    site = Site(tmp_path, lab)
    try:
        site.start("worker", "--spiders", "tests.integration.worker.spiders")
        async with open_services(site.settings(), guest=True) as services:
            await services.jobs.submit(
                Submission(spider="links", id="j", args={"seeds": lab.url(0)})
            )
            await _pages(services, 120)
            made = await backup(services, tmp_path / "copy")
            at_backup = await services.frontier.stats.job("j")
            assert at_backup.pages < PAGES - 200
            await _pages(services, at_backup.pages + 60)  # what is done since is lost
        site.kill_all()
        await wait_until_async(lambda: not _running(site.data), what="the server is gone")
        shutil.rmtree(site.data)
        done = await asyncio.to_thread(site.run, "restore", str(tmp_path / "copy"))
        assert done["keys"] == made.keys > 40
        assert made.pause_s < 5
        site.start("worker", "--spiders", "tests.integration.worker.spiders")
        async with open_services(site.settings(), guest=True) as services:
            await _ended(services)
            stats = await services.frontier.stats.job("j")
    finally:
        site.kill_all()
        site.log.close()
        print((tmp_path / "log").read_text())
    verdict = lab.verdict()
    assert verdict.coverage
    assert verdict.coverage.share == 1.0
    assert verdict.polite
    assert stats.pages == PAGES
    assert (
        len({item.data["url"] for item in read_items(site.given["items.sink"], job="j")})
        == PAGES + 1
    )
    # At most what was done since the backup, and what was in hand then, is done again.
    assert verdict.duplicates.count <= 60 + 2 * 256


def _running(folder: Path) -> bool:
    return any(
        str(folder) in cwd for cwd in (_cwd(path) for path in Path("/proc").glob("[0-9]*/cwd"))
    )


def _cwd(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""


async def _pages(services: Services, number: int) -> None:
    async def so_far() -> bool:
        return (await services.frontier.stats.job("j")).pages >= number

    await wait_until_async(so_far, timeout_s=90, what=f"{number} pages")


async def _ended(services: Services) -> None:
    async def over() -> bool:
        return (await services.frontier.jobs.record("j")).state == "ended"

    await wait_until_async(over, timeout_s=150, what="the job has ended")


async def test_schedules_and_history_come_back(services: Services, tmp_path: Path) -> None:
    await services.schedules.add(Schedule(name="s", cron="@daily", job={"spider": "x"}))
    await services.jobs.submit(Submission(spider="x", id="old"))
    await services.jobs.stop("old")
    await services.jobs.submit(Submission(spider="x", id="live", seeds=("https://a.test/",)))
    manifest = await backup(services, tmp_path / "copy")
    assert read_manifest(tmp_path / "copy") == manifest
    await services.schedules.delete("s")
    await services.jobs.stop("live")
    with pytest.raises(RestoreRefused, match="jobs on the server"):
        await restore(services.settings, tmp_path / "copy")
    await restore(services.settings, tmp_path / "copy", force=True)
    async with open_services(services.settings) as after:
        assert (await after.schedules.show("s")).schedule.cron == "@daily"
        assert (await after.jobs.show("old")).outcome == "cancelled"
        live = await after.jobs.show("live")
        assert (live.state, live.figures.queued) == ("queued", 1)


async def test_a_store_in_postgresql_comes_back(settings: Settings, tmp_path: Path) -> None:
    with PostgresProcess() as postgres:
        url = postgres.url
        there = settings.model_copy(
            update={"store": settings.store.model_copy(update={"url": url})}
        )
        async with open_services(there) as services:
            await services.schedules.add(Schedule(name="s", cron="@daily", job={"spider": "x"}))
            await services.jobs.submit(Submission(spider="x", id="j", labels={"a": "b"}))
            await backup(services, tmp_path / "copy")
            await services.schedules.delete("s")
        await restore(there, tmp_path / "copy", force=True)
        async with open_services(there) as services:
            assert (await services.schedules.show("s")).schedule.cron == "@daily"
            assert (await services.jobs.list(label=("a", "b"))).jobs[0].id == "j"
        with pytest.raises(RestoreRefused, match="store is postgresql"):
            await restore(settings, tmp_path / "copy", force=True)


async def test_a_backup_that_is_not_whole_is_refused(services: Services, tmp_path: Path) -> None:
    path = tmp_path / "copy"
    await backup(services, path)
    with pytest.raises(BackupError, match="of that name already"):
        await backup(services, path)
    with (path / "frontier.keys").open("ab") as file:
        file.write(b"x")
    with pytest.raises(BackupError, match=r"frontier.keys is not what it was"):
        await restore(services.settings, path)
    (path / "manifest.json").unlink()
    with pytest.raises(BackupError, match="manifest"):
        await restore(services.settings, path)
