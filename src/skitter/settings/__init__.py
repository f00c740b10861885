"""Every setting, in one typed tree: defaults < skitter.yaml < environment < flags.

`load_settings()` is called once, at the edge of a process; the frozen sections of what it
returns are passed down as values. `tree` has the settings, `sources` reads where they come
from, `load` merges and checks, `listing` shows them.
"""

from __future__ import annotations

from skitter.settings.identity import IdentitySettings, ProxySettings
from skitter.settings.load import LoadedSettings, load_settings, load_with_origins, parse_sets
from skitter.settings.tree import (
    EmbeddedSettings,
    FetchSettings,
    FrontierSettings,
    ItemsSettings,
    LogSettings,
    PolitenessSettings,
    RedirectSettings,
    RedisSettings,
    RetrySettings,
    RobotsSettings,
    Settings,
    TrapSettings,
    WorkerSettings,
)

__all__ = [
    "EmbeddedSettings",
    "FetchSettings",
    "FrontierSettings",
    "IdentitySettings",
    "ItemsSettings",
    "LoadedSettings",
    "LogSettings",
    "PolitenessSettings",
    "ProxySettings",
    "RedirectSettings",
    "RedisSettings",
    "RetrySettings",
    "RobotsSettings",
    "Settings",
    "TrapSettings",
    "WorkerSettings",
    "load_settings",
    "load_with_origins",
    "parse_sets",
]
