"""Scrapy Cluster's messages on our jobs and hosts: crawl, actions, stats, domains.

`messages` has its JSON, `reading` finds out which message one is, `crawls` makes jobs of crawl
requests, and `desk` answers the rest. Where they come from (REST, Kafka) is not known here.
"""

from skitter.compat.scrapy_cluster.desk import Desk
from skitter.compat.scrapy_cluster.reading import read_message

__all__ = ["Desk", "read_message"]
