"""How to ask, engine-neutral: robots, identity, proxies, retry, redirects, traps."""
