"""The embedded server when something is broken, missing, full, deleted or in a bad place."""

from __future__ import annotations

import os
import platform
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from skitter.frontier import embedded
from skitter.frontier.embedded import EmbeddedServer
from skitter.frontier.embedded_files import EmbeddedServerFailed, ServerFiles
from tests.servers.embedded import client_of, guard_in, processes_in, servers_in
from tests.wait import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers.embedded import Join

pytestmark = pytest.mark.integration


def test_a_torn_end_of_the_append_only_file_is_cut_off(server_folder: Path) -> None:
    server = EmbeddedServer(server_folder)
    with server, client_of(server) as client:
        client.set("k", "v")
    journal = next((server_folder / "appendonlydir").glob("*.incr.aof"))
    with journal.open("ab") as file:
        file.write(b"*3\r\n$3\r\nSET\r\n$5\r\nhal")
    with server, client_of(server) as client:
        assert client.keys() == [b"k"]


def test_a_killed_guard_takes_the_server_along_and_ensure_brings_both_back(
    server_folder: Path,
) -> None:
    server = EmbeddedServer(server_folder)
    with server, client_of(server) as client:
        client.set("k", "v")
        old = server.pid
        guard_in(server_folder).kill()
        wait_until(lambda: old not in servers_in(server_folder))
        server.ensure()
        assert client.get("k") == b"v"
        assert len(processes_in(server_folder)) == 2


def test_guard_and_server_killed_leave_stale_files_that_harm_nobody(server_folder: Path) -> None:
    server = EmbeddedServer(server_folder)
    with server, client_of(server) as client:
        client.set("k", "v")
        guard = guard_in(server_folder)
        guard.suspend()
        psutil.Process(server.pid).kill()
        guard.kill()
        wait_until(lambda: not processes_in(server_folder))
        assert server.files.socket.exists()
        assert server.files.pid.exists()
        server.ensure()
        assert client.get("k") == b"v"


def test_a_server_whose_folder_is_deleted_ends(server_folder: Path, join: Join) -> None:
    user = join()
    pid = user.line()
    subprocess.run(["rm", "-rf", str(server_folder)], check=True)
    wait_until(lambda: not psutil.pid_exists(pid), timeout_s=20)
    user.leave()


def test_a_frozen_server_is_named_not_doubled(server_folder: Path) -> None:
    server = EmbeddedServer(server_folder, patience_s=0.5)
    with server:
        process = psutil.Process(server.pid)
        process.suspend()
        with pytest.raises(EmbeddedServerFailed, match=f"{process.pid} does not answer"):
            server.ensure()
        assert servers_in(server_folder) == [process.pid]
        process.resume()
        server.ensure()


def test_a_deep_folder_has_its_socket_in_a_private_place(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100) / "e é'\" %41" / ".skitter"
    with EmbeddedServer(deep) as server, EmbeddedServer(deep) as same:
        socket_folder = server.files.socket.parent
        assert same.url == server.url
        assert len(os.fsencode(server.files.socket)) < 100
        assert stat.S_IMODE(socket_folder.stat().st_mode) == 0o700
        with client_of(server) as client:
            assert client.ping()
    assert not socket_folder.exists()


def test_a_socket_folder_open_to_others_is_refused(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path / ("d" * 120))
    server.files.socket.parent.mkdir(mode=0o755)
    try:
        with pytest.raises(EmbeddedServerFailed, match="this user alone"):
            server.start()
    finally:
        server.files.socket.parent.rmdir()


def test_odd_characters_in_the_path_are_no_matter(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path / "a b'\"%41#?é")
    with server, client_of(server) as client:
        assert client.ping()


def test_a_forked_child_neither_holds_nor_stops_the_server(server_folder: Path) -> None:
    program = f"""
import os
from skitter.frontier.embedded import EmbeddedServer
server = EmbeddedServer({str(server_folder)!r})
server.start()
if os.fork() == 0:
    server.close()
    os.read(0, 1)
    os._exit(0)
assert server._command("PING") == b"+PONG\\r\\n"
server.close()
print(server.pid, flush=True)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "None\n"
    assert servers_in(server_folder) == []
    process.communicate(timeout=30)
    assert process.returncode == 0


def test_a_server_that_cannot_start_shows_its_last_words(server_folder: Path) -> None:
    server = EmbeddedServer(server_folder)
    with server, client_of(server) as client:
        client.set("k", "v")
    journal = next((server_folder / "appendonlydir").glob("*.incr.aof"))
    journal.write_bytes(b"this is no journal\r\n" * 10)
    with pytest.raises(EmbeddedServerFailed, match="Bad file format") as caught:
        server.start()
    assert "redis.url" in str(caught.value)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(EmbeddedServerFailed, match="cannot be made"):
        EmbeddedServer(tmp_path / "file" / ".skitter").start()


def test_a_full_disk_is_named(server_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "MIN_FREE_BYTES", 1 << 60)
    with pytest.raises(EmbeddedServerFailed, match="disk is full"):
        EmbeddedServer(server_folder).start()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MB, where the system lets us have one."""
    path = tmp_path / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(path)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small file system needs root")
    yield path
    wait_until(lambda: not processes_in(path / "s"))
    subprocess.run(["umount", str(path)], check=True)


def _fill(client: redis.Redis) -> int:
    written = 0
    try:
        while client.set(f"n:{written}", b"x" * 100_000):
            written += 1
    except redis.ConnectionError:  # with `always` the server ends itself rather than pretend
        return written
    raise AssertionError("a write was refused without an error")


def test_a_disk_that_fills_up_loses_nothing_acknowledged(small_disk: Path) -> None:
    server = EmbeddedServer(small_disk / "s")
    with server, client_of(server) as client:
        client.set_retry(Retry(NoBackoff(), 0))
        written = _fill(client)
        with pytest.raises(EmbeddedServerFailed, match="disk is full"):
            wait_until(lambda: server.ensure() and None)
        subprocess.run(["mount", "-o", "remount,size=99m", str(small_disk)], check=True)
        server.ensure()
        assert client.dbsize() == written


def test_a_platform_without_a_wheel_is_told_of_redis_url(
    server_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(EmbeddedServerFailed, match="riscv64") as caught:
        EmbeddedServer(server_folder).start()
    assert "redis.url" in str(caught.value)


def test_the_log_is_kept_short(server_folder: Path) -> None:
    with EmbeddedServer(server_folder) as server:
        with server.files.log.open("a") as log:
            log.write("x" * (2 << 20))
        wait_until(lambda: not server.files.log.exists() or server.files.log.stat().st_size < 9999)
        assert (server_folder / "server.log.1").exists()


def test_paths_are_known_without_touching_the_disk(tmp_path: Path) -> None:
    assert ServerFiles(tmp_path / "x").socket == tmp_path / "x" / "server.sock"
    assert not (tmp_path / "x").exists()
