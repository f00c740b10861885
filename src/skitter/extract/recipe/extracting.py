"""A recipe at work: a page in, items and links out, the same under any engine.

Structured data comes first where the page's rule asks for it, and the rule's own fields fill what
it leaves open (or replace it, with `override`). Every field says where it comes from, and a field
without a value says why.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from skitter.extract.cleaners import Context, clean_field
from skitter.extract.document import Document, PageLike
from skitter.extract.fields import Extracted, Field, Fields
from skitter.extract.locale import UNDECLARED
from skitter.extract.recipe.links import Link, links_of
from skitter.extract.recipe.model import FieldRule, PageRule, RecipeFile
from skitter.extract.recipe.patterns import UrlPatterns, in_domains
from skitter.extract.recipe.places import Node, Text, nodes_at, texts_at
from skitter.extract.structured.products import all_products, main_product
from skitter.extract.structured.quotes import all_quotes, main_quote

MOST_ITEMS = 10_000
MOST_VALUES = 1000


@dataclass(slots=True)
class Extraction:
    """What a page gave. page is the rule that it fell under, empty if under none."""

    page: str = ""
    items: list[Extracted] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class Recipe:
    """A checked recipe. version changes with its text."""

    def __init__(self, file: RecipeFile, *, source: str = "", version: str = "") -> None:
        self.file = file
        self.source = source
        self.version = version
        self.locale = file.over(UNDECLARED)
        self._patterns = {name: UrlPatterns(page.match) for name, page in file.pages.items()}

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def start(self) -> tuple[str, ...]:
        """The URLs to begin with."""
        return self.file.start

    def fits(self, url: str) -> bool:
        """Whether the recipe is about this address."""
        return in_domains(url, self.file.domains) and any(
            patterns.fit(url) for patterns in self._patterns.values()
        )

    def page_of(self, page: PageLike | Document) -> str:
        """The first rule that a page falls under, by its address and what it has; or none."""
        document = Document.of(page)
        if not in_domains(document.url, self.file.domains):
            return ""
        for name, rule in self.file.pages.items():
            if self._patterns[name].fit(document.url) and (
                rule.has is None or document.selector.css(rule.has)
            ):
                return name
        return ""

    def extract(
        self, page: PageLike | Document, *, rule: str = "", now: datetime | None = None
    ) -> Extraction:
        """The items and links of a page. rule names the page's kind where it is known."""
        document = Document.of(page)
        name = rule or self.page_of(document)
        if name not in self.file.pages:
            return Extraction(problems=[f"no page of the recipe {self.name} fits {document.url}"])
        return _Visit(self, name, document, now).extraction()


class _Visit:
    """One page under one rule."""

    def __init__(self, recipe: Recipe, name: str, document: Document, now: datetime | None) -> None:
        self._recipe = recipe
        self._name = name
        self._rule: PageRule = recipe.file.pages[name]
        self._document = document
        self._contexts = {
            field: Context(rule.over(recipe.locale), document.base, now)
            for field, rule in self._rule.fields.items()
        }

    def extraction(self) -> Extraction:
        items = [item for item in self._items() if item.fields or item.missing]
        root = Node(self._document)
        links = links_of(self._name, self._rule, root, domains=self._recipe.file.domains)
        problems = list(self._document.structured.problems)
        return Extraction(self._name, items[:MOST_ITEMS], links, problems)

    def _items(self) -> list[Extracted]:
        rule, root = self._rule, Node(self._document)
        if rule.each is not None:
            return [self._item(node, {}) for node in nodes_at(rule.each, root)]
        if rule.structured in ("products", "quotes"):
            return [self._item(root, fields) for fields in self._structured()]
        if not (rule.fields or rule.structured):
            return []
        return [self._item(root, next(iter(self._structured()), {}))]

    def _structured(self) -> list[Fields]:
        data, locale = self._document.structured, self._recipe.locale
        url = self._document.url
        match self._rule.structured:
            case "product":
                return [main_product(data, locale, url=url)]
            case "products":
                return all_products(data, locale)
            case "quote":
                return [main_quote(data, locale, url=url)]
            case "quotes":
                return all_quotes(data, locale)
        return []

    def _item(self, node: Node, fields: Fields) -> Extracted:
        found = dict(fields)
        own = set(self._rule.fields)
        for name, rule in self._rule.fields.items():
            more = self._field(name, rule, node)
            _take(found, name, more, rule=rule, own=own)
        missing = [
            name
            for name, rule in self._rule.fields.items()
            if rule.required and found.get(name, Field(None)).value is None
        ]
        return Extracted(self._rule.item or self._name, found, missing)

    def _field(self, name: str, rule: FieldRule, node: Node) -> Fields:
        """The first place that gives a value; else why the first that gave a text was refused."""
        refused: Fields = {}
        for place in rule.any:
            texts = [text for text in texts_at(place, node) if text.text.strip()]
            if not texts:
                continue
            found = self._values(name, rule, texts)
            if found[name].value is not None:
                return found
            refused = refused or found
        return refused

    def _values(self, name: str, rule: FieldRule, texts: list[Text]) -> Fields:
        if not rule.all:
            return self._clean(name, rule, texts[0])
        cleaned = [self._clean(name, rule, text)[name] for text in texts[:MOST_VALUES]]
        values = [one.value for one in cleaned if one.value is not None]
        raw = "\n".join(one.raw for one in cleaned)
        if not values:
            return {name: cleaned[0]}
        value = rule.join.join(map(str, values)) if rule.join is not None else values
        return {name: Field(value, raw, cleaned[0].origin)}

    def _clean(self, name: str, rule: FieldRule, text: Text) -> Fields:
        context = self._contexts[name]
        context = context.as_machine() if text.number else context
        return clean_field(name, rule.clean, text.text, context, origin=text.origin)


def _take(found: Fields, name: str, more: Fields, *, rule: FieldRule, own: set[str]) -> None:
    """A field of the rule's own, beside what structured data gave.

    What belongs to it (a price's currency) comes with it, and not without it, unless it says the
    same; a field that the rule names itself is never another one's part.
    """
    if name not in more:
        return
    before = found.get(name, Field(None))
    wanted = before.value is None or (rule.override and more[name].value is not None)
    if wanted and (more[name].value is not None or not before.reason):
        found[name] = more[name]
    parts = {part: one for part, one in more.items() if part != name and part not in own}
    if found.get(name, Field(None)).value == more[name].value:
        for part, one in parts.items():
            if wanted or found.get(part, Field(None)).value is None:
                found[part] = one
