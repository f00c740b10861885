"""The compatible engine: Scrapy's own engine on the frontier, by one line in ADDONS.

`addon` puts the parts in place; `scheduler` and `downloader` take the place of Scrapy's; `settling`
says what became of a request; `requests` translates. docs/scrapy.md says what changes.
"""

from skitter.addon.addon import Addon

__all__ = ["Addon"]
