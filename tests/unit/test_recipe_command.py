"""`skitter recipe check` on saved pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from skitter.cli.main import app
from skitter.errors import BadRecipe, PageError

URL = "https://shop.example/p/12"
RECIPE = """
name: hardware
domains: shop.example
locale: fr-TN
pages:
  product:
    match: /p/*
    structured: product
    fields:
      name: {css: h1, required: true}
      price: {css: .price, clean: price}
      weight: {css: .weight, clean: number}
    follow: {css: .more a, page: product}
"""
PAGE = """
<h1>Perceuse [700 W]</h1><p class=price>1\u202f299,000 DT</p>
<div class=more><a href=/p/13>x</a></div>
<script type="application/ld+json">{"@type": "Product", "brand": "Bosch"}</script>
"""


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shop.yaml").write_text(RECIPE, encoding="utf-8")
    Path("page.html").write_text(PAGE, encoding="utf-8")


def run(*args: str) -> Result:
    return CliRunner().invoke(app, ["recipe", "check", URL, "--file", "page.html", *args])


def told(*args: str) -> dict[str, Any]:
    result = run(*args, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_what_each_field_yields_and_from_where() -> None:
    outcome = told("--recipe", "shop.yaml")
    (item,) = outcome["items"]
    assert item["fields"]["price"] == {
        "value": "1299.000",
        "raw": "1\u202f299,000 DT",
        "from": "css .price",
        "reason": "",
    }
    assert item["fields"]["brand"]["from"] == "json-ld brand"
    assert item["fields"]["weight"]["reason"] == "nothing was found"
    assert outcome["page"] == "product"
    assert outcome["links"] == [
        {"url": "https://shop.example/p/13", "kind": "follow", "page": "product"}
    ]


def test_the_same_for_people() -> None:
    result = run("--recipe", "shop.yaml")
    assert result.exit_code == 0
    for text in ("hardware", "1299.000", "css .price", "Perceuse [700 W]", "follow to product: 1"):
        assert text in result.stdout


def test_a_required_field_without_a_value_fails() -> None:
    Path("page.html").write_text("<p class=price>12,500 DT</p>", encoding="utf-8")
    result = run("--recipe", "shop.yaml")
    assert result.exit_code == 1
    assert "required: nothing was found" in result.stdout


def test_without_a_recipe_structured_data_is_shown() -> None:
    outcome = told()
    assert outcome["recipe"] == ""
    assert [item["kind"] for item in outcome["items"]] == ["product"]


def test_recipes_in_their_folder_are_found() -> None:
    Path("recipes").mkdir()
    other = RECIPE.replace("hardware", "other").replace("shop.example", "other.example")
    Path("recipes/a.yaml").write_text(other, encoding="utf-8")
    Path("recipes/b.yml").write_text(RECIPE, encoding="utf-8")
    assert told()["recipe"] == "hardware"


def test_a_page_that_no_rule_fits_fails() -> None:
    Path("shop.yaml").write_text(RECIPE.replace("/p/*", "/q/*"), encoding="utf-8")
    result = run("--recipe", "shop.yaml")
    assert result.exit_code == 1
    assert f"no page of the recipe hardware fits {URL}" in result.stdout
    assert told("--recipe", "shop.yaml", "--page", "product")["page"] == "product"


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (["--recipe", "none.yaml"], BadRecipe),
        (["--recipe", "shop.yaml", "--page", "prodct"], PageError),
        (["--file", "none.html"], PageError),
    ],
)
def test_mistakes_are_errors_that_are_known(args: list[str], error: type[Exception]) -> None:
    assert isinstance(run(*args).exception, error)


def test_a_page_in_an_old_encoding() -> None:
    Path("page.html").write_bytes("<h1>Pièce à 5 €</h1>".encode("cp1252"))
    outcome = told("--recipe", "shop.yaml")
    assert outcome["items"][0]["fields"]["name"]["value"] == "Pièce à 5 €"
