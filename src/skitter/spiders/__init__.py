"""The spiders that come with Skitter: ecommerce, finance, link, wandering.

They are ordinary Scrapy spiders. What a site looks like stands in a recipe, of which some are
shipped in `recipes/`. Nothing is imported here: a worker walks the package for its spiders.
"""
