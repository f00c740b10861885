"""A process that uses the embedded server of a folder until its standard input ends.

Prints the server's pid when it is up. With `write` it also writes numbered keys, each after the
last was acknowledged, brings the server back whenever it is gone, and prints how many it wrote.
"""

from __future__ import annotations

import select
import sys

import redis

from skitter.frontier.embedded import EmbeddedServer
from tests.wait import wait_until


def main() -> None:
    folder, task = sys.argv[1:]
    server = EmbeddedServer(folder)
    server.start()
    # The server may answer before its guard has written down who it is.
    print(wait_until(lambda: server.pid, timeout_s=10, what="its pid is known"), flush=True)
    if task == "write":
        print(_write(server), flush=True)
    sys.stdin.read()
    if task != "forget":  # leaves it to atexit
        server.close()


def _write(server: EmbeddedServer) -> int:
    """Write until a line comes in; a write that failed is written again, never counted twice."""
    written = 0
    with redis.Redis.from_url(server.url) as client:
        while not select.select([sys.stdin], [], [], 0)[0]:
            try:
                client.set(f"n:{written}", written)
            except redis.ConnectionError:
                server.ensure()
            else:
                written += 1
    sys.stdin.readline()
    return written


if __name__ == "__main__":
    main()
