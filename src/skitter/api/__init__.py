"""The REST API: a thin shell over the services, with keys, limits and a record of changes.

`app` puts it together, `serving` runs it. What stands around every request (`envelope`, `guard`,
`bounds`, `idempotency`, `recording`) is plain ASGI; the routes are one module for each subject.
"""
