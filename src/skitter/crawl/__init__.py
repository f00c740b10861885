"""A crawl from Python: a script or a notebook runs it, reads its items, stops it.

`Crawl` is what is used; `background` has the thread and the loop that all of it runs in.
"""

from skitter.crawl.crawl import Crawl

__all__ = ["Crawl"]
