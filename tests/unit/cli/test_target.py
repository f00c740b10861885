"""What `skitter crawl` takes its words for."""

from __future__ import annotations

from pathlib import Path

import pytest

from skitter.cli.target import Asked, Target, target_of
from skitter.service_errors import UnknownTarget

RECIPE = """
name: hardware
start: https://hardware.example/
pages:
  product: {match: /p/*, structured: product}
"""


def meant(*words: str, spiders: tuple[str, ...] = (), **asked: object) -> Target:
    return target_of(Asked(words, **asked), spiders=lambda: spiders)  # type: ignore[arg-type]


def test_just_urls_are_pages_with_what_they_lead_to() -> None:
    found = meant("https://shop.example/", "http://other.example/a")
    assert (found.spider, found.shipped) == ("link", True)
    assert found.seeds == ("https://shop.example/", "http://other.example/a")
    assert int(found.args["depth"]) >= 1_000_000
    assert meant("https://shop.example/", max_depth=2).args == {"depth": "2"}
    assert "alone" in meant("https://shop.example/", max_depth=0).told


def test_a_host_is_a_url_too() -> None:
    assert meant("shop.example/phones").seeds == ("https://shop.example/phones",)


def test_urls_with_a_spider_of_ones_choice() -> None:
    found = meant("https://shop.example/", spider="ecommerce", args={"locale": "de-DE"})
    assert found == Target("ecommerce", {"locale": "de-DE"}, ("https://shop.example/",), True)


def test_a_spider_of_the_project() -> None:
    found = meant("prices", "https://shop.example/", spiders=("prices",), args={"a": "1"})
    assert found == Target("prices", {"a": "1"}, ("https://shop.example/",))


def test_a_projects_spider_comes_before_one_that_is_shipped() -> None:
    assert meant("link").shipped
    assert not meant("link", spiders=("link",)).shipped


def test_a_recipe_is_run_by_the_spider_of_its_kind(tmp_path: Path) -> None:
    path = tmp_path / "hardware.yaml"
    path.write_text(RECIPE)
    found = meant(str(path))
    assert (found.spider, found.args) == ("ecommerce", {"recipe": str(path)})
    assert meant("any-quotes", "https://quotes.example/").spider == "finance"
    assert meant("any-shop", "https://shop.example/").args == {"recipe": "any-shop"}


@pytest.mark.parametrize("words", [(), ("a", "b"), ("any-shop",)])
def test_what_cannot_be_meant(words: tuple[str, ...]) -> None:
    with pytest.raises(UnknownTarget):
        meant(*words, spiders=("a", "b"))


def test_a_misspelt_spider_has_a_nearest_name() -> None:
    with pytest.raises(UnknownTarget, match=r"did you mean products\?"):
        meant("prodcts", spiders=("products",))
