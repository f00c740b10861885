"""Which URL is next, and when: dedup, host queues, turns, leases, retries, dead letters, live jobs.

All hot state is in Redis or Valkey; one script does each operation, in one shard, in one step.
`Frontier` is the way in; docs/internals.md follows one URL through it.
"""

from skitter.frontier.caretaker import Caretaker
from skitter.frontier.cookies import Cookie
from skitter.frontier.dead import DeadLetter
from skitter.frontier.frontier import Frontier
from skitter.frontier.job import Job, Scope, lane_of
from skitter.frontier.lease import Added, Fetch, Lease, Leased, Permit, Renewal, Settlement
from skitter.frontier.policy import Config, HostPolicy, RetryPolicy
from skitter.frontier.request import Request

__all__ = [
    "Added",
    "Caretaker",
    "Config",
    "Cookie",
    "DeadLetter",
    "Fetch",
    "Frontier",
    "HostPolicy",
    "Job",
    "Lease",
    "Leased",
    "Permit",
    "Renewal",
    "Request",
    "RetryPolicy",
    "Scope",
    "Settlement",
    "lane_of",
]
