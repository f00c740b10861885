"""What `skitter crawl` is to crawl: a spider, a recipe, or just URLs.

Just URLs are read by the spider `link`, which follows links on their hosts. A recipe is run by
`finance` if it is about quotes, by `ecommerce` otherwise.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from skitter.service_errors import UnknownTarget
from skitter.spiders.shipped import find_recipe, shipped_recipes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

SHIPPED = ("ecommerce", "finance", "link", "wandering")
ALL_DEPTHS = "1000000"
_HOST = re.compile(r"(?i)[a-z0-9][a-z0-9.-]*\.[a-z]{2,}(:[0-9]+)?(/.*)?")


@dataclass(frozen=True)
class Target:
    """A spider with its arguments and seeds. shipped: it comes with Skitter."""

    spider: str
    args: dict[str, str] = field(default_factory=dict)
    seeds: tuple[str, ...] = ()
    shipped: bool = False
    told: str = ""


@dataclass(frozen=True)
class Asked:
    """What was said on the command line."""

    words: Sequence[str]
    spider: str | None = None
    args: dict[str, str] = field(default_factory=dict)
    max_depth: int | None = None


def target_of(asked: Asked, *, spiders: Callable[[], Collection[str]]) -> Target:
    """What is meant; spiders are those of the project, asked for only where they matter.

    Raises UnknownTarget.
    """
    seeds = tuple(url for word in asked.words if (url := _url(word)))
    names = [word for word in asked.words if not _url(word)]
    if asked.spider:
        names.insert(0, asked.spider)
    if len(names) > 1:
        raise UnknownTarget(target=" ".join(names), reason="one spider or recipe at a time")
    if names:
        return _named(names[0], seeds, asked.args, spiders)
    if not seeds:
        raise UnknownTarget(target="", reason="say a spider, a recipe or URLs")
    return _just_urls(seeds, asked)


def _named(
    name: str,
    seeds: tuple[str, ...],
    args: dict[str, str],
    spiders: Callable[[], Collection[str]],
) -> Target:
    path = Path(name)
    if path.suffix in (".yaml", ".yml") or (name in shipped_recipes() and name not in SHIPPED):
        return _recipe(name, seeds, args)
    if name in SHIPPED:
        # A project may have a spider of that name, which then is the one that is meant.
        return Target(name, args, seeds, shipped=name not in spiders())
    known = spiders()
    if name in known:
        return Target(name, args, seeds)
    raise UnknownTarget(target=name, reason=_reason(name, known))


def _recipe(name: str, seeds: tuple[str, ...], args: dict[str, str]) -> Target:
    recipe = find_recipe(name)
    about_quotes = any(
        page.item == "quote" or page.structured in ("quote", "quotes")
        for page in recipe.file.pages.values()
    )
    spider = "finance" if about_quotes else "ecommerce"
    # Workers have folders of their own: a file is named by its whole path.
    place = str(Path(name).resolve()) if Path(name).exists() else name
    if not (seeds or recipe.start):
        raise UnknownTarget(target=name, reason="the recipe has no start: give a URL to begin with")
    told = f"the recipe {recipe.name}, by the spider {spider}"
    return Target(spider, {"recipe": place} | args, seeds, shipped=True, told=told)


def _just_urls(seeds: tuple[str, ...], asked: Asked) -> Target:
    depth = ALL_DEPTHS if asked.max_depth is None else str(asked.max_depth)
    args = {"depth": depth} | asked.args
    told = "pages by the spider link, with all that they lead to on their hosts"
    if args["depth"] == "0":
        told = "these pages alone, by the spider link"
    return Target("link", args, seeds, shipped=True, told=told)


def _url(word: str) -> str:
    """A word as a URL, if it is one: shop.example/phones is, too."""
    if urlsplit(word).scheme in ("http", "https") and urlsplit(word).hostname:
        return word
    is_file = word.endswith((".yaml", ".yml")) or Path(word).exists()
    return f"https://{word}" if _HOST.fullmatch(word) and not is_file else ""


def _reason(name: str, known: Collection[str]) -> str:
    names = sorted({*known, *SHIPPED, *shipped_recipes()})
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f"there is no such spider or recipe; did you mean {near[0]}?"
    return f"there is no such spider or recipe; there are {', '.join(names)}"
