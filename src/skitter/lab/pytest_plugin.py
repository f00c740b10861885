"""The fixtures `lab` and `lab_process`: start a lab web in a test and forget about ending it.

    async def test_crawl(lab):
        web = await lab(WebSpec(hosts=3))
        ...
        assert (await web.verdict()).polite

pytest loads this wherever Skitter is installed, so the lab is imported only when a test asks for
it. `lab` needs pytest-asyncio; `lab_process` needs nothing.
"""

from __future__ import annotations

from contextlib import AsyncExitStack, ExitStack
from typing import TYPE_CHECKING, Any, Protocol

import pytest

try:
    from pytest_asyncio import fixture as async_fixture
except ImportError:
    async_fixture = pytest.fixture  # type: ignore[assignment]  # same use, other signature

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from skitter.lab.process import LabProcess
    from skitter.lab.run import LabServer
    from skitter.lab.spec import WebSpec


class StartLab(Protocol):
    """Starts a lab in the test's own loop; takes what `LabServer` takes."""

    async def __call__(self, spec: WebSpec | None = None, **options: Any) -> LabServer:
        """Start it."""


class StartLabProcess(Protocol):
    """Starts a lab in a process of its own; takes what `LabProcess` takes."""

    def __call__(self, spec: WebSpec | None = None, **options: Any) -> LabProcess:
        """Start it."""


@async_fixture
async def lab() -> AsyncIterator[StartLab]:
    """Labs in the test's own loop."""
    from skitter.lab.run import LabServer  # noqa: PLC0415 - see the module's docstring

    async with AsyncExitStack() as stack:

        async def start(spec: WebSpec | None = None, **options: Any) -> LabServer:
            return await stack.enter_async_context(LabServer(spec, **options))

        yield start


@pytest.fixture
def lab_process() -> Iterator[StartLabProcess]:
    """Labs in processes of their own."""
    from skitter.lab.process import LabProcess  # noqa: PLC0415 - the same

    with ExitStack() as stack:

        def start(spec: WebSpec | None = None, **options: Any) -> LabProcess:
            return stack.enter_context(LabProcess(spec, **options))

        yield start
