"""Sites in trouble under the fast engine: the add-on's tests, as they are."""

from __future__ import annotations

import pytest

from tests.integration.addon.test_sites_trouble import *  # noqa: F403

pytestmark = pytest.mark.integration
