"""`skitter init`: a project that Scrapy takes for its own, whose test passes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from skitter.cli.init import package_of
from skitter.cli.main import app
from skitter.extract.recipe import load_recipe
from skitter.service_errors import CannotInit
from skitter.settings import load_settings


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def run(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd="price-watch",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_a_project_is_scrapys_too_and_its_test_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    done = CliRunner().invoke(app, ["init", "price-watch"])
    assert done.exit_code == 0, done.output
    assert "price_watch/spiders/products.py" in done.output
    assert run("scrapy.cmdline", "list").split() == ["products"]
    assert "OK" in run("unittest")
    monkeypatch.chdir("price-watch")
    assert load_settings().fetch.user_agent.startswith("price-watch (crawler")
    assert load_recipe(Path("recipes/shop.yaml")).name == "shop"
    assert yaml.safe_load(Path("skitter.yaml").read_text())["items"]


def test_a_folder_with_something_in_it_is_left_alone() -> None:
    Path("shop").mkdir()
    Path("shop/mine.txt").write_text("mine")
    done = CliRunner().invoke(app, ["init", "shop"])
    assert isinstance(done.exception, CannotInit)
    assert [path.name for path in Path("shop").iterdir()] == ["mine.txt"]
    assert CliRunner().invoke(app, ["init", "shop", "--dir", "other"]).exit_code == 0


@pytest.mark.parametrize(
    "name", ["", "1shop", "a b", "../up", "class", "json", "scrapy", "tests", "x" * 80]
)
def test_names_that_cannot_be(name: str) -> None:
    with pytest.raises(CannotInit):
        package_of(name)
