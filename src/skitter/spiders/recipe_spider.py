"""A spider that a recipe drives: pages in, items and requests out.

It keeps nothing between pages, so any worker may take any page, and a page that is replayed gives
the same again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.http import Response, TextResponse

from skitter.extract.cleaned import Cleaned
from skitter.extract.document import Document
from skitter.extract.fields import Extracted
from skitter.extract.recipe import Link
from skitter.extract.urls import clean_url
from skitter.spiders.arguments import hosts_of, read_urls
from skitter.spiders.items import Found, class_of
from skitter.spiders.shipped import find_recipe
from skitter.validate import MODELS, Validator, load_schema
from skitter.validate.gates import Gates

PIPELINE = "skitter.spiders.checking.CheckingPipeline"


class RecipeSpider(Spider):
    """Follows a recipe. A subclass names itself, its usual recipe and what it is about.

    Arguments: url or urls, recipe (a shipped one's name, or a file), locale, and schema (a JSON
    Schema file that items of its kind have to fit, besides its own rules).
    """

    usual_recipe: ClassVar[str] = ""
    about: ClassVar[str] = ""
    """The kind of items that schema is for."""
    usual_gates: ClassVar[dict[str, Any]] = {}
    """What a run has to pass where its job says `gates: usual`."""
    custom_settings: ClassVar[dict[Any, Any]] = {"ITEM_PIPELINES": {PIPELINE: 100}}  # type: ignore[misc]

    def __init__(
        self,
        *,
        url: str = "",
        urls: str = "",
        recipe: str = "",
        locale: str = "",
        schema: str = "",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.recipe = find_recipe(recipe or self.usual_recipe, locale=locale)
        self.start_urls = read_urls(url, urls) or list(self.recipe.start)
        self.allowed_domains = [*hosts_of(self.start_urls), *self.recipe.file.domains]
        self.validators = _validators(self.about, schema)
        Gates.checked(self.recipe.file.gates, source=self.recipe.source)  # told before the crawl

    @classmethod
    def gates_for(cls, args: Mapping[str, Any]) -> dict[str, Any]:
        """What the recipe of a job with these arguments asks of a run."""
        return find_recipe(str(args.get("recipe") or cls.usual_recipe)).file.gates

    async def start(self) -> AsyncIterator[Any]:
        """The first pages, told apart as all others are: none is fetched again by a link."""
        for url in self.start_urls:
            yield Request(url)

    def parse(self, response: Response, page: str = "") -> Iterator[Any]:
        """The items of a page, and where it leads. page: what the recipe expects it to be."""
        if not isinstance(response, TextResponse):
            return
        document = Document.of(response)
        name = page or self.recipe.page_of(document)
        found = self.recipe.extract(document, rule=name)
        for item in found.items:
            yield self._item(item, document, alone=self._alone(name))
        for link in found.links:
            if self.allowed_domains or _host(link.url) == _host(response.url):
                yield self._request(link)

    def _alone(self, page: str) -> bool:
        """Whether such a page is about one thing, which has the page's address."""
        rule = self.recipe.file.pages[page]
        return rule.each is None and rule.structured not in ("products", "quotes")

    def _item(self, found: Extracted, document: Document, *, alone: bool) -> Found:
        data = found.data
        canonical = _canonical(document) if alone else ""
        url = canonical or data.pop("url", "") or document.url
        item = class_of(found.kind)({"url": url} | data | {"url": url})
        item.canonical = bool(canonical)
        item["raw"] = _raw(found, data)
        if found.problems:
            item["problems"] = found.problems
        item["recipe"] = f"{self.recipe.name} {self.recipe.version}"
        return item

    def _request(self, link: Link) -> Request:
        kwargs = {"page": link.page} if link.page else None
        return Request(link.url, priority=link.priority, cb_kwargs=kwargs)


def _canonical(document: Document) -> str:
    """The address that a page gives as its own."""
    href = document.selector.xpath("//link[@rel='canonical']/@href").get()
    result = clean_url(href, document.base) if href else None
    return result.value if isinstance(result, Cleaned) else ""


def _raw(found: Extracted, data: Mapping[str, Any]) -> dict[str, str]:
    """What values were read from, where that says more than the value itself."""
    return {name: raw for name, raw in found.raw.items() if raw.strip() != str(data.get(name, ""))}


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""


def _validators(about: str, schema: str) -> dict[str, tuple[Validator, ...]]:
    """The rules by kind of item."""
    found: dict[str, tuple[Validator, ...]] = {
        kind: (Validator.of_model(model),) for kind, model in MODELS.items()
    }
    if schema:
        more = Validator.of_schema(load_schema(Path(schema)))
        found[about] = (*found.get(about, ()), more)
    return found
