"""What becomes of a request under the fast engine: the add-on's tests, as they are."""

from __future__ import annotations

import pytest

from tests.integration.addon.test_outcomes import *  # noqa: F403

pytestmark = pytest.mark.integration
