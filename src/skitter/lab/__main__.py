"""The child of `LabProcess`: orders on stdin, the port on stdout, the end with stdin's end."""

from __future__ import annotations

import asyncio
import json
import signal
import sys

from skitter.lab.referee import Judging
from skitter.lab.refusal import LabSpecError
from skitter.lab.run import LabServer, run_fast
from skitter.lab.spec import spec_from


async def main() -> None:
    """Serve until the parent closes our stdin."""
    orders = json.loads(sys.stdin.readline())
    try:
        lab = LabServer(
            spec_from(orders["spec"]), judging=Judging(**orders["judging"]), **orders["serving"]
        )
        await lab.start()
    except LabSpecError as error:
        _reply({"error": str(error)})
        return
    _reply({"port": lab.port})
    await asyncio.to_thread(sys.stdin.read)
    await lab.stop()


def _reply(value: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    # Ctrl-C goes to the whole terminal group; the parent decides when the lab ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    run_fast(main())
