"""Which message a JSON object is, and whether it is one; if not, why, in words.

Scrapy Cluster takes the first schema that fits, and drops what fits none in silence. Here the
fields say which one is meant, so that what is wrong with it can be told.
"""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from skitter.access_errors import BadMessage
from skitter.compat.scrapy_cluster.messages import Action, Crawl, Domain, Message, Stats

_DOMAIN_ACTIONS = ("domain-update", "domain-remove", "blacklist-update", "blacklist-remove")
_ACTIONS = ("info", "stop", "expire", *_DOMAIN_ACTIONS)


def read_message(given: Any) -> Message:
    """The message that a JSON object is; raises BadMessage with what is wrong with it."""
    if not isinstance(given, dict):
        raise BadMessage(reason="it is no JSON object")
    kind = _kind(given)
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        raise BadMessage(reason=_problems(error)) from error


def _kind(given: dict[str, Any]) -> type[Message]:
    action = given.get("action")
    if action in _DOMAIN_ACTIONS:
        return Domain
    if action is not None:
        if action not in _ACTIONS:
            raise BadMessage(reason=f"action is none of {', '.join(_ACTIONS)}")
        return Action
    if given.get("url") is not None or given.get("crawlid") is not None:
        return Crawl
    if given.get("uuid") is not None:
        return Stats
    raise BadMessage(
        reason="it has neither url (a crawl request), action (an action), nor uuid (stats)"
    )


def _problems(error: ValidationError) -> str:
    """Each field that is wrong, and why; not its value, which may be long or secret."""
    told = []
    for each in error.errors(include_url=False, include_input=False)[:10]:
        field = ".".join(str(part) for part in each["loc"])
        words = each["msg"].removeprefix("Value error, ")
        told.append(f"{field}: {words}" if field else words)
    return "; ".join(told)
