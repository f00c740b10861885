"""One machine's part of a crawl: a supervisor, and the processes that run spiders under it.

The supervisor needs no Scrapy: it starts one child per core, restarts what dies, gives dead
children's leases back, and tends the frontier. A child loads a Scrapy project, opens a crawler for
each lane that has work, and says in its heartbeat what it is doing. docs/worker.md tells more.
"""

from skitter.engine.loading import without

with without("rich"):  # structlog would load it, for tracebacks in colour
    import structlog  # noqa: F401 - all of this package logs
