"""Stores for tests: an SQLite file or a PostgreSQL database of its own for each."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import psycopg

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers.postgres import PostgresProcess

STORES = ("sqlite", "postgres")


def sqlite_url(folder: Path) -> str:
    return f"sqlite:{folder / 'new' / 'kept of ü.db'}"


def database_url(server: PostgresProcess) -> str:
    """A new and empty database."""
    name = f"t{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return server.url.rpartition("/")[0] + f"/{name}"
