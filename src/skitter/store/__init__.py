"""All that is kept, in SQL: SQLite by default, PostgreSQL by URL, one set of queries.

`Store` runs queries in threads; `tables` has what they speak of; `migrations` bring a database up
to date when it is opened. Each service keeps its queries beside it.
"""

from skitter.store.store import Store

__all__ = ["Store"]
