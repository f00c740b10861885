"""The metadata that all tables share. Each part has a module of its own: `tables_jobs`, …"""

from __future__ import annotations

from sqlalchemy import MetaData

metadata = MetaData()
