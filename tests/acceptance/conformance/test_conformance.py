"""The same spider gives the same under Scrapy's own engine and under the fast one.

Items, requests as they came to the server, and stats are equal; docs/engine.md names what is not.
"""

from __future__ import annotations

import pkgutil
import re
from collections import Counter
from fnmatch import fnmatchcase
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from tests.acceptance.conformance import cases
from tests.acceptance.conformance.cases.case import Case
from tests.acceptance.conformance.running import as_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.acceptance.conformance.conftest import Ran, RunBoth

pytestmark = pytest.mark.acceptance

APART = (
    "*_time*",
    "start_time",
    "memusage/*",
    "scheduler/*",
    "log_count/[!E]*",
    "items_per_minute",
    "responses_per_minute",
    "dupefilter/*",
)


def _cases() -> Iterator[type[Case]]:
    for found in pkgutil.iter_modules(cases.__path__):
        module = import_module(f"{cases.__name__}.{found.name}")
        for kind in vars(module).values():
            if isinstance(kind, type) and issubclass(kind, Case) and _is_own(kind, module):
                yield kind


def _is_own(kind: type, module: Any) -> bool:
    return kind.__module__ == module.__name__ and "name" in vars(kind)


@pytest.mark.parametrize("case", list(_cases()), ids=lambda case: case.name)
def test_both_engines_give_the_same(case: type[Case], run_both: RunBoth) -> None:
    plain, fast = run_both(case)
    found = [
        *_differences("item", Counter(plain.outcome.items), Counter(fast.outcome.items)),
        *_differences("request", _requests(plain), _requests(fast)),
        *_differences("stat", _stats(plain, case), _stats(fast, case)),
        *_differences("log line", _log(plain, case), _log(fast, case)),
    ]
    assert not found, "\n".join(["", *found, *_said(fast)])
    if case.in_order:
        assert _paths(fast) == _paths(plain)
    assert len(plain.outcome.items) == case.gives, "\n".join([*plain.outcome.items, *_said(plain)])


def _differences(what: str, plain: Counter[str], fast: Counter[str]) -> Iterator[str]:
    yield from (
        f"{what} of plain Scrapy only: {text}" for text in sorted((plain - fast).elements())
    )
    yield from (
        f"{what} of the fast engine only: {text}" for text in sorted((fast - plain).elements())
    )


def _said(ran: Ran) -> Iterator[str]:
    yield from (" ".join(line) for line in ran.outcome.log if line[1] != "INFO")


def _log(ran: Ran, case: type[Case]) -> Counter[str]:
    """What the spider said, and what went wrong in it; of a site's failure Scrapy tells more."""
    own = [case.name, "scrapy.core.scraper"]
    if "finish_reason" not in case.apart:
        own.append("scrapy.core.engine")
    lines = [" ".join(line) for line in ran.outcome.log if line[0] in own]
    return Counter(re.sub(r"(Error downloading <.*?>).*", r"\1", line) for line in lines)


def _requests(ran: Ran) -> Counter[str]:
    """What the server was asked, whatever the order."""
    return Counter(_request(asked) for asked in ran.asked)


def _request(asked: dict[str, Any]) -> str:
    """Everything about a request; robots.txt is asked for with fewer headers."""
    headers = [] if asked["url"].endswith("/robots.txt") else sorted(asked["headers"])
    return as_text(asked | {"headers": headers})


def _paths(ran: Ran) -> list[str]:
    return [asked["url"].partition(".test")[2] for asked in ran.asked]


def _stats(ran: Ran, case: type[Case]) -> Counter[str]:
    apart = APART + case.apart
    return Counter(
        f"{name} = {value}"
        for name, value in ran.outcome.stats.items()
        if not any(fnmatchcase(name, pattern) for pattern in apart)
    )
