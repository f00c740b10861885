"""What to crawl: jobs, their history, and their seeds' way into the frontier.

`service` is the way in: it submits, lists, shows and changes jobs. `submission` is what is asked
for, `view` what is shown, `rows` and `listing` are its queries. `seeds` makes a request of a line,
`seed_files` reads files, `sitemap_source` reads sitemaps and follows their indexes, and `pushing`
takes what these find to the frontier, batch by batch.
"""

from skitter.jobs.pushing import Push, Tally, held_open, stand
from skitter.jobs.seed_files import seeds_of_file, seeds_of_urls
from skitter.jobs.seeds import Defaults, Seed
from skitter.jobs.sitemap_source import SitemapSource

__all__ = [
    "Defaults",
    "Push",
    "Seed",
    "SitemapSource",
    "Tally",
    "held_open",
    "seeds_of_file",
    "seeds_of_urls",
    "stand",
]
