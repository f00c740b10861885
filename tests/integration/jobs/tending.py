"""The loops that see to jobs, in a process of their own: there to be killed.

python -m tests.integration.jobs.tending SETTINGS-AS-JSON
"""

from __future__ import annotations

import asyncio
import json
import sys

from skitter.frontier import Caretaker
from skitter.orchestrator.finisher import Finisher
from skitter.orchestrator.projector import Projector
from skitter.services import open_services
from skitter.settings import load_settings


async def main() -> None:
    settings = load_settings(json.loads(sys.argv[1]))
    async with open_services(settings, worker="tender", guest=True) as services:
        finisher = Finisher(services.frontier, services.store, settings)
        projector = Projector(services.frontier, services.store, settings)
        caretaker = Caretaker(services.frontier)
        print("tending", flush=True)
        while True:
            await caretaker.tend()
            await projector.tend()
            await finisher.tend()
            await asyncio.sleep(0.05)


if __name__ == "__main__":
    asyncio.run(main())
