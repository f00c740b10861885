"""Skitter: a distributed crawler that loses nothing and never hammers a site."""

from __future__ import annotations

__version__ = "0.1.0"
