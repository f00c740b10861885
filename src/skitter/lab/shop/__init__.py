"""The demo shops: one for each locale, each a function of the seed, the URL and the version.

`locale` says how a shop speaks and writes prices, `shelves` which product is listed where,
`catalog` what a product is at a version, `pages` and `structured` write it down, `site` answers
for a host.
"""
