"""What is wrong with a recipe is said with its place in the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from skitter.errors import BadRecipe
from skitter.extract.recipe import load_recipe, parse_recipe

GOOD = """\
name: shop
domains: shop.example
locale: fr-TN
pages:
  product:
    match: /p/*
    fields:
      name: h1
      price: {css: .price, clean: price}
  listing:
    match: [/c/*, "re:[?]page=\\\\d+"]
    follow:
      - {css: .card a, page: product}
    next: a.next
"""


def problem(text: str) -> str:
    with pytest.raises(BadRecipe) as caught:
        parse_recipe(text, source="shop.yaml")
    assert caught.value.summary.startswith("The recipe shop.yaml cannot be used: ")
    return str(caught.value.problems)


def test_a_good_recipe() -> None:
    recipe = parse_recipe(GOOD)
    assert (recipe.name, recipe.locale.currency, recipe.locale.decimal) == ("shop", "TND", ",")
    assert recipe.version == parse_recipe(GOOD).version
    assert recipe.version != parse_recipe(f"{GOOD}#").version


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("fields:", "feilds:", "line 7: pages.product.feilds: there is no such key; did you mean"),
        (
            "css: .price, ",
            "cs: .price, ",
            "line 9: pages.product.fields.price.cs: there is no such",
        ),
        (
            "clean: price",
            "clean: pric",
            "line 9: pages.product.fields.price.clean: 'pric' is no clea",
        ),
        ("name: h1", "name: h1[", "line 8: pages.product.fields.name: 'h1[' is no CSS selector"),
        (
            "css: .price",
            "xpath: '//a['",
            "line 9: pages.product.fields.price.xpath: '//a[' is no XPath",
        ),
        (
            "css: .price",
            "json: a..b",
            "line 9: pages.product.fields.price.json: 'a..b' is no JMESPath",
        ),
        ("css: .price", "url: '('", "line 9: pages.product.fields.price.url: '(' is no regular"),
        ("css: .price, ", "", "line 9: pages.product.fields.price: give it a place"),
        (".price,", ".price, xpath: //a,", "price: give exactly one of css"),
        ("page: product", "page: prodct", "no page 'prodct'; did you mean product?"),
        ("/p/*", "p/*", "line 6: pages.product.match.0: a pattern begins with /"),
        ("fr-TN", "fr", "line 3: locale: 'fr' is not a language with its country"),
        ("fr-TN", "xx-QQ", "line 3: locale: 'xx-QQ' is not a locale that is known"),
        ("locale: fr-TN", "timezone: Tunis", "line 3: timezone: 'Tunis' is no time zone"),
        ("locale: fr-TN", "currency: DT", "line 3: currency: 'DT' is no ISO code"),
        ("locale: fr-TN", "decimal: ';'", "line 3: decimal: it should be '.' or ','"),
        ("next: a.next", "next: {param: page}", "line 14: pages.listing.next: param needs while"),
        ("name: shop", "nme: shop", "name: it is needed"),
        ("domains:", "name:", "line 2: name is there twice"),
        ("name: h1", "name: [h1", "line 9: "),
    ],
)
def test_a_mistake_is_told_with_its_line(before: str, after: str, told: str) -> None:
    assert told in problem(GOOD.replace(before, after, 1))


def test_all_mistakes_are_told_at_once() -> None:
    text = GOOD.replace("clean: price", "clean: pric").replace("name: h1", "name: h1[")
    told = problem(text)
    assert told.startswith("there are 2 problems\n- line 8: ")
    assert "\n- line 9: " in told


def test_what_is_no_recipe_at_all() -> None:
    assert "name and pages" in problem("- a\n- b\n")
    assert "name and pages" in problem("")


def test_aliases_are_refused_for_they_may_grow_without_end() -> None:
    assert "aliases" in problem("name: &a [x]\npages: [*a, *a]\n")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadRecipe, match="cannot be read"):
        load_recipe(tmp_path / "none.yaml")
    (tmp_path / "long.yaml").write_text("#" * 300_000)
    with pytest.raises(BadRecipe, match="more than 262144 bytes"):
        load_recipe(tmp_path / "long.yaml")
    (tmp_path / "good.yaml").write_text(GOOD)
    assert load_recipe(tmp_path / "good.yaml").source.endswith("good.yaml")
