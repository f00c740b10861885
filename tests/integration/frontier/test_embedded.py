"""The embedded server: shared by processes, stopped by the last one, lossless when killed."""

from __future__ import annotations

import os
import signal
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from skitter.frontier.embedded import EmbeddedServer
from tests.servers.embedded import client_of, processes_in, servers_in
from tests.wait import wait_until

if TYPE_CHECKING:
    from tests.servers.embedded import Join

pytestmark = pytest.mark.integration


def test_it_starts_takes_commands_and_is_gone_after_close(server_folder: Path) -> None:
    server = EmbeddedServer(server_folder)
    with server, client_of(server) as client:
        assert client.set("k", "v")
        assert client.info("server")["process_id"] == server.pid
    assert servers_in(server_folder) == []
    assert not server.files.socket.exists()
    assert server.pid is None


async def test_it_is_an_async_context_manager_too(server_folder: Path) -> None:
    async with EmbeddedServer(server_folder) as server:
        assert servers_in(server_folder) == [server.pid]
    assert servers_in(server_folder) == []


def test_it_is_configured_to_lose_nothing(server_folder: Path) -> None:
    server = EmbeddedServer(server_folder, maxmemory="50mb")
    with server, client_of(server) as client:
        config = client.config_get(
            "appendonly", "appendfsync", "save", "maxmemory", "maxmemory-policy", "port"
        )
    assert config == {
        "appendonly": "yes",
        "appendfsync": "always",
        "save": "",
        "maxmemory": str(50 << 20),
        "maxmemory-policy": "noeviction",
        "port": "0",
    }


def test_a_later_user_settings_hold(server_folder: Path) -> None:
    first, second = (
        EmbeddedServer(server_folder),
        EmbeddedServer(server_folder, appendfsync="everysec"),
    )
    with first, second, client_of(first) as client:
        assert client.config_get("appendfsync") == {"appendfsync": "everysec"}


def test_no_port_is_open_and_the_files_are_private(server_folder: Path) -> None:
    with EmbeddedServer(server_folder) as server:
        assert psutil.Process(server.pid).net_connections(kind="inet") == []
        modes = {path: stat.S_IMODE(path.stat().st_mode) for path in server_folder.iterdir()}
        modes[server_folder] = stat.S_IMODE(server_folder.stat().st_mode)
    assert {path: oct(mode) for path, mode in modes.items() if mode & 0o077} == {}


def test_data_outlives_a_clean_stop(server_folder: Path) -> None:
    server = EmbeddedServer(server_folder)
    with server, client_of(server) as client:
        client.set("k", "v")
    with server, client_of(server) as client:
        assert client.get("k") == b"v"


def test_two_processes_share_one_server_and_the_last_one_stops_it(
    server_folder: Path, join: Join
) -> None:
    first, second = join(), join()
    assert first.line() == second.line()
    first.leave()
    assert len(servers_in(server_folder)) == 1
    second.leave()
    assert servers_in(server_folder) == []


def test_it_survives_the_process_that_started_it(server_folder: Path, join: Join) -> None:
    first = join()
    pid = first.line()
    second = join()
    second.line()
    first.kill()
    with EmbeddedServer(server_folder) as server:
        assert server.pid == pid
    second.leave()
    assert servers_in(server_folder) == []


def test_a_user_that_just_exits_leaves_nothing(server_folder: Path, join: Join) -> None:
    user = join("forget")
    user.line()
    user.leave()
    assert servers_in(server_folder) == []


def test_all_users_killed_the_server_goes(server_folder: Path, join: Join) -> None:
    users = [join() for _ in range(3)]
    assert len({user.line() for user in users}) == 1
    for user in users:
        user.kill()
    wait_until(lambda: not processes_in(server_folder), what="server and guard end")


def test_eight_processes_starting_at_once_get_one_server(server_folder: Path, join: Join) -> None:
    users = [join() for _ in range(8)]
    pids = {user.line() for user in users}
    assert pids == set(servers_in(server_folder))
    assert len(pids) == 1
    for user in users:
        user.kill()


def test_users_that_come_while_others_are_killed_always_find_a_server(
    server_folder: Path, join: Join
) -> None:
    """The guard may be stopping the server at that very moment: then it is started anew."""
    user = join()
    user.line()
    server = EmbeddedServer(server_folder)
    for _ in range(10):
        user.kill()
        with server, client_of(server) as client:
            client.incr("rounds")
            user = join()
            user.line()
    user.kill()
    with server, client_of(server) as client:
        assert client.get("rounds") == b"10"


def test_users_that_come_while_the_last_one_leaves_always_find_a_server(join: Join) -> None:
    users = [join() for _ in range(4)]
    for _ in range(5):
        leaving = users.pop(0)
        leaving.line()
        for user in users:
            user.line()
            user.kill()
        fresh = [join() for _ in range(4)]
        leaving.leave()
        users = fresh
    for user in users:
        user.line()
        user.leave()


def test_the_server_killed_again_and_again_loses_nothing_acknowledged(
    server_folder: Path, join: Join
) -> None:
    writer = join("write")
    writer.line()
    server = EmbeddedServer(server_folder)
    with server:
        for _ in range(6):
            # The writer may have started it just now: it answers before its file is there.
            killed = wait_until(lambda: server.pid, what="the server's process is known")
            _wait_for_writes(server)
            os.kill(killed, signal.SIGKILL)
            wait_until(lambda killed=killed: killed not in servers_in(server_folder))  # type: ignore[misc]
            server.ensure()
            assert server.pid != killed
        writer.say()
        written = writer.line()
        with client_of(server) as client:
            lost = [n for n in range(written) if client.get(f"n:{n}") != str(n).encode()]
        writer.leave()
    assert written > 0
    assert lost == []


def _wait_for_writes(server: EmbeddedServer) -> None:
    with client_of(server) as client:
        before = client.dbsize()
        wait_until(lambda: client.dbsize() > before + 100, what="the writer goes on")
