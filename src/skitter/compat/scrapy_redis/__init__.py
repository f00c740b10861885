"""scrapy-redis on the frontier: put `skitter.compat.` before `scrapy_redis.` in a project, no more.

Modules, classes, settings and Redis keys keep their names. `addon` reads the settings, `scheduler`
is the one line that switches all of it on, `feeder` brings start URLs from Redis into the frontier.
docs/from-scrapy-redis.md says what changes, line by line.
"""

from skitter.compat.scrapy_redis.connection import get_redis, get_redis_from_settings

__all__ = ["get_redis", "get_redis_from_settings"]
