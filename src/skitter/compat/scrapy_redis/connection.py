"""Clients from a project's REDIS_* settings, and the same server as a URL for the frontier.

`get_redis` and `get_redis_from_settings` give plain redis-py clients. Nothing of ours calls those
in the event loop: it has `async_from_settings` for that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit

import redis.asyncio
from scrapy.utils.misc import load_object

from skitter.compat.scrapy_redis import defaults

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

SETTINGS_PARAMS_MAP = {
    "REDIS_URL": "url",
    "REDIS_HOST": "host",
    "REDIS_PORT": "port",
    "REDIS_DB": "db",
    "REDIS_ENCODING": "encoding",
    "REDIS_DECODE_RESPONSES": "decode_responses",
}
# Objects that are made for blocking clients.
_BLOCKING_ONLY = ("redis_cls", "connection_pool", "connection_class", "retry", "retry_on_timeout")


def get_redis_from_settings(settings: BaseSettings) -> Any:
    """A client for the server that the settings name."""
    return get_redis(**_parameters(settings))


from_settings = get_redis_from_settings


def get_redis(**kwargs: Any) -> Any:
    """A client: `redis_cls`, or redis-py's own, by `url` or by its parameters."""
    kind = kwargs.pop("redis_cls", defaults.REDIS_CLS)
    kind = load_object(kind) if isinstance(kind, str) else kind
    url = kwargs.pop("url", None)
    return kind.from_url(url, **kwargs) if url else kind(**kwargs)


def async_from_settings(settings: BaseSettings) -> redis.asyncio.Redis:
    """A client of the event loop for the same server; its replies are bytes."""
    given = _parameters(settings)
    kept = {name: value for name, value in given.items() if name not in _BLOCKING_ONLY}
    url = kept.pop("url", None)
    kept["decode_responses"] = False
    return redis.asyncio.Redis.from_url(url, **kept) if url else redis.asyncio.Redis(**kept)


def server_url(settings: BaseSettings) -> str:
    """The server that the settings name as one URL, as `redis.url` takes it."""
    given = _parameters(settings)
    parts = urlsplit(given["url"]) if given.get("url") else _address(given)
    query = dict(parse_qsl(parts.query))
    query |= {name: str(value) for name, value in given.items() if name.startswith("ssl_")}
    socket = parts.scheme == "unix"
    if given.get("db") and "db" not in query and (socket or not parts.path.strip("/")):
        query["db"] = str(given["db"])
    if given.get("password") and "@" not in parts.netloc:
        parts = _with_login(parts, given)
    options = f"?{urlencode(query)}" if query else ""
    return f"{parts.scheme}://{parts.netloc}{parts.path}{options}"


def _parameters(settings: BaseSettings) -> dict[str, Any]:
    given = defaults.REDIS_PARAMS | settings.getdict("REDIS_PARAMS")
    for name, parameter in SETTINGS_PARAMS_MAP.items():
        if settings.get(name):
            given[parameter] = settings[name]
    return given


def _address(given: dict[str, Any]) -> SplitResult:
    if given.get("unix_socket_path"):
        return urlsplit(f"unix://{given['unix_socket_path']}")
    scheme = "rediss" if given.get("ssl") else "redis"
    return urlsplit(f"{scheme}://{given.get('host') or 'localhost'}:{given.get('port') or 6379}")


def _with_login(parts: SplitResult, given: dict[str, Any]) -> SplitResult:
    user, password = str(given.get("username") or ""), str(given["password"])
    login = f"{quote(user, safe='')}:{quote(password, safe='')}@"
    return parts._replace(netloc=login + parts.netloc)
