"""What a page costs a crawler: plain Scrapy, scrapy-redis and the add-on, one after the other.

The same spider on the same pages by the same command, `scrapy crawl`, one process each. The pages
come from a lab process that has rendered them beforehand. CPU is user and system time of the
crawler's process and its children, from start to end, as the kernel tells it when the process is
gone; neither the lab's nor the Redis server's is in it. Redis is asked over the loopback, as it is
by workers on other machines, and keeps nothing on disk. Rounds are interleaved, for a shared
machine is faster at one time and slower at another, and medians are told.
"""
