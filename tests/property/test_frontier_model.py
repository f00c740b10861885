"""The frontier does what the model says, whatever the order of calls.

`HYPOTHESIS_PROFILE=long` runs many more and longer examples.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.property.machine import FrontierMachine
from tests.servers import ServerProcess

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"


@pytest.mark.timeout(7200 if LONG else 300)
def test_frontier_does_what_the_model_says(valkey_server: ServerProcess) -> None:
    class Machine(FrontierMachine):
        url = valkey_server.url

    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=2000 if LONG else 60,
            stateful_step_count=80 if LONG else 40,
            deadline=None,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
            phases=[phase for phase in Phase if phase is not Phase.explain],
        ),
    )
