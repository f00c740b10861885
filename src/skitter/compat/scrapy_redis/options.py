"""What a project's SCHEDULER_* settings mean here, read once and checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skitter.compat.scrapy_redis import defaults, queue
from skitter.errors import UnsupportedSetting

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_QUEUES = {
    name: getattr(queue, name)
    for name in (
        "FifoQueue",
        "LifoQueue",
        "PriorityQueue",
        "SpiderPriorityQueue",
        "SpiderQueue",
        "SpiderStack",
    )
}
_MODULES = ("skitter.compat.scrapy_redis.queue", "scrapy_redis.queue")
_NO_EFFECT = {
    "SCHEDULER_QUEUE_KEY": "requests are in the frontier, under redis.namespace",
    "SCHEDULER_SERIALIZER": "requests are stored as msgpack",
}
_ONLY_PERSISTENT = "it names a set of seen URLs only with SCHEDULER_PERSIST"


@dataclass(frozen=True, kw_only=True)
class Options:
    """queue_key and dupefilter_key are those that scrapy-redis would use; notes say what is not."""

    persist: bool
    flush: bool
    idle_s: int
    depth_first: bool
    queue_key: str
    dupefilter_key: str
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: BaseSettings, *, spider: str) -> Options:
        """Read them for a spider; raises UnsupportedSetting for what cannot be kept."""
        _check_serializer(settings)
        return cls(
            persist=settings.getbool("SCHEDULER_PERSIST", defaults.SCHEDULER_PERSIST),
            flush=settings.getbool("SCHEDULER_FLUSH_ON_START"),
            idle_s=_idle_s(settings),
            depth_first=_queue(settings).depth_first,
            queue_key=_key(settings, "SCHEDULER_QUEUE_KEY", spider),
            dupefilter_key=_key(settings, "SCHEDULER_DUPEFILTER_KEY", spider),
            notes=tuple(_notes(settings)),
        )


def _check_serializer(settings: BaseSettings) -> None:
    given = settings.get("SCHEDULER_SERIALIZER")
    if "pickle" in str(given).lower():
        hint = (
            "A pickle from Redis runs code in whoever reads it. Remove the setting: requests are "
            "stored as msgpack, with their callbacks by name."
        )
        raise UnsupportedSetting(name="SCHEDULER_SERIALIZER", value=given, hint=hint)


def _idle_s(settings: BaseSettings) -> int:
    seconds = settings.getint("SCHEDULER_IDLE_BEFORE_CLOSE")
    if seconds < 0:
        hint = "Give the seconds to wait, or 0."
        raise UnsupportedSetting(name="SCHEDULER_IDLE_BEFORE_CLOSE", value=seconds, hint=hint)
    return seconds


def _queue(settings: BaseSettings) -> type[queue.FrontierQueue]:
    given: Any = settings.get("SCHEDULER_QUEUE_CLASS") or defaults.SCHEDULER_QUEUE_CLASS
    path = given if isinstance(given, str) else f"{given.__module__}.{given.__qualname__}"
    module, _, name = path.rpartition(".")
    if module not in _MODULES or name not in _QUEUES:
        hint = (
            "A queue of one's own has no place here: the frontier is the queue. Give requests a "
            f"priority, and name one of {', '.join(sorted(_QUEUES))} of {_MODULES[0]}."
        )
        raise UnsupportedSetting(name="SCHEDULER_QUEUE_CLASS", value=path, hint=hint)
    found: type[queue.FrontierQueue] = _QUEUES[name]
    return found


def _key(settings: BaseSettings, name: str, spider: str) -> str:
    template = settings.get(name) or getattr(defaults, name)
    try:
        return str(template % {"spider": spider})
    except (KeyError, TypeError, ValueError) as error:
        hint = f"It may name the spider as %(spider)s, and nothing else: {error}"
        raise UnsupportedSetting(name=name, value=template, hint=hint) from error


def _notes(settings: BaseSettings) -> list[str]:
    ignored = dict(_NO_EFFECT)
    if not settings.getbool("SCHEDULER_PERSIST"):
        ignored["SCHEDULER_DUPEFILTER_KEY"] = _ONLY_PERSISTENT
    return [f"{name} is not used: {why}" for name, why in ignored.items() if settings.get(name)]
