"""What a page costs a crawler: Skitter, its peers and a hand-made loop, one after the other.

The same fields and links of the same pages, from a lab process that has rendered them beforehand.
CPU is user and system time of the crawler's processes, from start to end, as the kernel tells it
when they are gone, imports included; neither the lab's nor the Redis server's is in it. Redis is
asked over the loopback, as it is by workers on other machines, and keeps nothing on disk. Rounds
are interleaved, for a shared machine is faster at one time and slower at another, and medians are
told. A run that does not have every page's item fails.
"""
