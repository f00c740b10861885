"""What a recipe may say, checked. A short form stands for the usual: a text is a CSS selector.

Selectors, paths and patterns are compiled here, so that a mistake is told with its place in the
file, before anything is fetched.
"""

from __future__ import annotations

import difflib
from typing import Annotated, Any, Literal, Self

import jmespath
from jmespath.exceptions import JMESPathError
from parsel import Selector
from parsel.csstranslator import HTMLTranslator
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from skitter.extract.cleaners import CLEANERS
from skitter.extract.currencies import codes
from skitter.extract.locale import Locale, known_zone, locale_of
from skitter.extract.recipe.patterns import UrlPattern, compile_regex

MOST_FIELDS = 200
MOST_PAGES = 50


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)


def _css(text: str) -> str:
    try:
        HTMLTranslator().css_to_xpath(text)
    except Exception as error:  # cssselect has no one class for its errors
        raise ValueError(f"{text!r} is no CSS selector: {error}") from error
    return text


def _xpath(text: str) -> str:
    try:
        Selector(text="<p/>", type="html").xpath(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is no XPath: {error}") from error
    return text


def _json_path(text: str) -> str:
    try:
        jmespath.compile(text)
    except JMESPathError as error:
        raise ValueError(f"{text!r} is no JMESPath: {error}".splitlines()[0]) from error
    return text


def _regex(text: str) -> str:
    compile_regex(text)
    return text


def _known(kind: str, names: Any, text: str) -> str:
    if text not in names:
        near = difflib.get_close_matches(text, names, n=1)
        guess = f"did you mean {near[0]}?" if near else f"there are: {', '.join(sorted(names))}"
        raise ValueError(f"{text!r} is no {kind}; {guess}")
    return text


def _is_locale(text: str) -> str:
    locale_of(text)
    return text


def _is_zone(text: str) -> str:
    if not known_zone(text):
        raise ValueError(f"{text!r} is no time zone, such as Africa/Tunis")
    return text


def _is_currency(text: str) -> str:
    if text not in codes():
        raise ValueError(f"{text!r} is no ISO code of a currency, such as TND")
    return text


Css = Annotated[str, AfterValidator(_css)]
XPathText = Annotated[str, AfterValidator(_xpath)]
JsonPath = Annotated[str, AfterValidator(_json_path)]
Regex = Annotated[str, AfterValidator(_regex)]
CleanerName = Annotated[str, AfterValidator(lambda text: _known("cleaner", CLEANERS, text))]
Texts = Annotated[
    tuple[UrlPattern, ...],
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
]


class LocaleParts(Part):
    """How the source writes, by locale or by part."""

    locale: Annotated[str, AfterValidator(_is_locale)] | None = None
    decimal: Literal[".", ","] | None = None
    currency: Annotated[str, AfterValidator(_is_currency)] | None = None
    date_order: Literal["DMY", "MDY", "YMD"] | None = None
    timezone: Annotated[str, AfterValidator(_is_zone)] | None = None

    def over(self, locale: Locale) -> Locale:
        """A locale with what is declared here in place of its own."""
        return (locale_of(self.locale) if self.locale else locale).with_parts(
            decimal=self.decimal or "",
            currency=self.currency or "",
            date_order=self.date_order or "",
            timezone=self.timezone or "",
        )


class Place(Part):
    """Where a value stands. Exactly one of css, xpath, json, url and value."""

    css: Css | None = None
    xpath: XPathText | None = None
    json_path: JsonPath | None = Field(None, alias="json")
    url: Regex | None = None
    value: str | None = None
    script: str | None = None
    regex: Regex | None = None

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        given = [self.css, self.xpath, self.json_path, self.url, self.value]
        if sum(one is not None for one in given) != 1:
            raise ValueError("give exactly one of css, xpath, json, url and value")
        if self.script and self.json_path is None:
            raise ValueError("script goes with json")
        return self


def _place(value: Any) -> Any:
    return {"css": value} if isinstance(value, str) else value


def _field(value: Any) -> Any:
    """A text is a selector, a list holds alternatives, a place may be part of the field."""
    if isinstance(value, str):
        return {"any": [{"css": value}]}
    if isinstance(value, list):
        return {"any": value}
    if isinstance(value, dict) and "any" not in value:
        names = ("css", "xpath", "json", "url", "value", "script", "regex")
        place = {name: value[name] for name in names if name in value}
        rest = {name: one for name, one in value.items() if name not in place}
        return rest | ({"any": [place]} if place else {})
    return value


AnyPlace = Annotated[Place, BeforeValidator(_place)]


class FieldRule(LocaleParts):
    """One field: its places in the order in which they are tried, and how it is cleaned."""

    any: tuple[AnyPlace, ...] = Field((), max_length=20)
    clean: CleanerName = "text"
    all: bool = False
    join: str | None = None
    required: bool = False
    override: bool = False

    @model_validator(mode="after")
    def _has_place(self) -> Self:
        if not self.any:
            raise ValueError("give it a place: css, xpath, json, url or value")
        return self


class FollowRule(Part):
    """Links to follow: elements with an href, or values that are URLs."""

    css: Css | None = None
    xpath: XPathText | None = None
    json_path: JsonPath | None = Field(None, alias="json")
    match: Texts = ()
    deny: Texts = ()
    page: str | None = None
    priority: int = 0

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if sum(one is not None for one in (self.css, self.xpath, self.json_path)) != 1:
            raise ValueError("give exactly one of css, xpath and json")
        return self


class NextRule(Part):
    """The next page: a link, or a number in the query that grows while there is something."""

    css: Css | None = None
    xpath: XPathText | None = None
    json_path: JsonPath | None = Field(None, alias="json")
    param: str | None = Field(None, pattern=r"^[^\s&=#]{1,100}$")
    first: int = 1
    step: int = Field(1, ge=1)
    last: int = Field(10_000, ge=1)
    while_css: Css | None = Field(None, alias="while")

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if sum(one is not None for one in (self.css, self.xpath, self.json_path, self.param)) != 1:
            raise ValueError("give exactly one of css, xpath, json and param")
        if self.param and not self.while_css:
            raise ValueError("param needs while: a selector that finds nothing past the last page")
        return self


def _follows(value: Any) -> Any:
    values = value if isinstance(value, list) else [value]
    return [_place(one) for one in values]


class PageRule(Part):
    """A kind of page: how it is known, what it holds, where it leads."""

    match: Texts = ()
    has: Css | None = None
    item: str | None = Field(None, pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")
    structured: Literal["product", "products", "quote", "quotes"] | None = None
    each: AnyPlace | None = None
    fields: dict[
        Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")],
        Annotated[FieldRule, BeforeValidator(_field)],
    ] = Field(default_factory=dict, max_length=MOST_FIELDS)
    follow: Annotated[tuple[FollowRule, ...], BeforeValidator(_follows)] = ()
    next: Annotated[NextRule, BeforeValidator(_place)] | None = None

    @model_validator(mode="after")
    def _has_use(self) -> Self:
        if not (self.fields or self.structured or self.follow or self.next):
            raise ValueError("give it fields, structured, follow or next")
        if self.each and self.structured:
            raise ValueError(
                "each and structured do not go together: products and quotes are several"
            )
        return self


class RecipeFile(LocaleParts):
    """All of a recipe."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    description: str = ""
    domains: Annotated[
        tuple[Annotated[str, Field(pattern=r"^[a-z0-9.-]+$")], ...],
        BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    ] = ()
    start: Annotated[
        tuple[Annotated[str, Field(pattern=r"^https?://")], ...],
        BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    ] = ()
    pages: dict[str, PageRule] = Field(min_length=1, max_length=MOST_PAGES)
    gates: dict[str, Any] = Field(default_factory=dict, max_length=20)
    """What a run has to pass; checked by those who judge it."""
