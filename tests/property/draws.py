"""What hypothesis draws from: few values each, so that calls meet on the same hosts and pages."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from skitter.frontier import Fetch, HostPolicy

LEASE_MS = 10_000
HOSTS = ("a.example.com", "b.example.com", "example.org")
SPIDERS = ("red", "blue")

jobs_given: st.SearchStrategy[dict[str, Any]] = st.builds(
    dict,
    spider=st.sampled_from(SPIDERS),
    priority=st.sampled_from([0, 0, 3, -3]),
    robots=st.booleans(),
    max_pages=st.sampled_from([None, None, 1, 3]),
    max_per_host=st.sampled_from([None, None, 4]),
    dedup=st.sampled_from([None, None, "shared"]),
)
# host, page, priority, dont_filter; few pages, so that many are known
pages_given = st.lists(
    st.tuples(
        st.sampled_from(HOSTS),
        st.integers(0, 7),
        st.sampled_from([0, 0, 0, 1, 2, -1]),
        st.sampled_from([False, False, False, True]),
    ),
    max_size=6,
)
fetches = st.builds(
    Fetch,
    ago_ms=st.sampled_from([0, 40]),
    latency_ms=st.sampled_from([-1, 20, 900]),
    status=st.sampled_from([200, 200, 200, 404, 500, 429, 0]),
    retry_after_ms=st.sampled_from([0, 0, 0, 3000]),
)
policies = st.builds(
    HostPolicy,
    delay_ms=st.sampled_from([None, 0, 0, 400, 1500]),
    concurrency=st.sampled_from([None, 1, 2, 5]),
    crawl_delay_ms=st.sampled_from([None, None, 0, 700]),
    robots_ms=st.sampled_from([None, 100_000, 100_000, 3000]),
    blocked=st.sampled_from([None, None, False, False, True]),
)
picks = st.integers(0, 99)
workers = st.sampled_from(["w1", "w2"])
