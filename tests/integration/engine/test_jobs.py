"""Jobs under the fast engine: the add-on's tests, as they are."""

from __future__ import annotations

import pytest

from tests.integration.addon.test_jobs import *  # noqa: F403
from tests.integration.addon.test_jobs import test_another_scheduler_is_refused

pytestmark = pytest.mark.integration

del test_another_scheduler_is_refused  # here it goes to the other engine: test_support
