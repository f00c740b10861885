"""The demo exchange: markets with tables, quotes with a page each, from seed, URL and version.

`market` says how a market writes its figures, `quotes` what a quote is at a version, `pages`
writes it down, `site` answers for the host.
"""
