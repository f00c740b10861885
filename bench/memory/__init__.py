"""Whether a worker's memory stays flat: many pages, a slow sink, very big pages, dead hosts.

The fast engine crawls a lab web in a process of its own, and tells twice a second how many pages
it has had and how much memory it has (RSS). Flat means that the last quarter of the pages needs no
more than the first one. Back-pressure means that a sink or pages that are too much for it make the
crawl slow, not big.
"""
