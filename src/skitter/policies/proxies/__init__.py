"""Proxies as egresses: each has a name, a URL that is never shown, and a pace at every host.

`pool` says which a worker may use now and judges what came back; `source` reads them from settings
and files; `bans` tells a proxy's faults from the site's; `health` is this worker's view of how they
stand; `sharing` makes all workers see the same. docs/proxies.md says how an engine uses them.
"""

from skitter.policies.proxies.pool import DIRECT, STICKY, ProxyPool, ProxyRow, Verdict
from skitter.policies.proxies.sharing import EgressStore
from skitter.policies.proxies.source import Proxy

__all__ = ["DIRECT", "STICKY", "EgressStore", "Proxy", "ProxyPool", "ProxyRow", "Verdict"]
