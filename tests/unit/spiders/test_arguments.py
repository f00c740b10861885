"""Arguments come as text, and one that makes no sense is told by its name."""

from __future__ import annotations

import pytest

from skitter.errors import BadArgument, BadRecipe, BadSchema
from skitter.extract.recipe import Recipe
from skitter.spiders.arguments import hosts_of, read_count, read_flag, read_urls
from skitter.spiders.ecommerce import EcommerceSpider
from skitter.spiders.link import LinkSpider
from skitter.spiders.shipped import find_recipe, shipped_recipes
from skitter.spiders.wandering import WanderingSpider

pytestmark = pytest.mark.unit


def test_urls_are_read_from_one_text_or_several() -> None:
    given = ("http://a.example/x,y", "http://b.example/,http://c.example http://b.example/")
    assert read_urls(*given) == ["http://a.example/x,y", "http://b.example/", "http://c.example"]
    assert hosts_of(["http://www.a.example:80/x", "https://a.example"]) == ["a.example"]


@pytest.mark.parametrize("url", ["a.example", "ftp://a.example", "http://"])
def test_a_url_that_is_none_is_told(url: str) -> None:
    with pytest.raises(BadArgument, match="url"):
        EcommerceSpider(url=url)


def test_flags_and_counts() -> None:
    assert [read_flag("body", text) for text in ("1", "Yes", "", "0")] == [True, True, False, False]
    assert read_count("depth", "12") == 12
    with pytest.raises(BadArgument, match="body"):
        LinkSpider(body="perhaps")
    with pytest.raises(BadArgument, match="depth"):
        LinkSpider(depth="-1")
    with pytest.raises(BadArgument, match="attrs"):
        LinkSpider(attrs="[1]")
    with pytest.raises(BadArgument, match="steps"):
        WanderingSpider(steps="many")


@pytest.mark.parametrize("name", shipped_recipes())
def test_every_shipped_recipe_is_good(name: str) -> None:
    found = find_recipe(name)
    assert isinstance(found, Recipe)
    assert found.name == name
    assert found.file.description


def test_a_locale_is_laid_over_a_recipe() -> None:
    german = find_recipe("demo-shop", locale="de-DE")
    assert (german.locale.decimal, german.locale.currency) == (",", "EUR")
    assert german.version != find_recipe("demo-shop").version
    assert find_recipe("tunisian-shop").locale.currency == "TND"
    with pytest.raises(BadArgument, match="locale"):
        find_recipe("demo-shop", locale="xx")


def test_an_unknown_recipe_is_told_with_those_there_are() -> None:
    with pytest.raises(BadRecipe, match="tunisian-shop"):
        EcommerceSpider(recipe="tunesian-shop")
    with pytest.raises(BadSchema):
        EcommerceSpider(schema="nowhere.json")
