"""What the frontier costs: CPU of server and client, memory, and times to react.

Every measurement runs on a real server of its own, without persistence, on a unix socket unless
told otherwise, through the public client, with one shard. CPU is the server's own account of it
(`INFO cpu`) and the client's `process_time`, for wall time on a shared machine says little.
"""
