from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from skitter.errors import NothingToRun
from skitter.worker.project import ADDON, REACTOR, Project, load_settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.unit

SPIDER = "import scrapy\nclass S(scrapy.Spider):\n    name = {name!r}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder as the current one; modules loaded from it are forgotten."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delenv("SCRAPY_SETTINGS_MODULE", raising=False)
    before = set(sys.modules)
    yield tmp_path
    os.environ.pop("SCRAPY_SETTINGS_MODULE", None)
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in ("toys", "lone"):
            del sys.modules[name]


def make_project(folder: Path, **settings: object) -> None:
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = toys.settings\n")
    spiders = folder / "toys" / "spiders"
    (spiders / "more").mkdir(parents=True)
    for package in (folder / "toys", spiders, spiders / "more"):
        (package / "__init__.py").touch()
    (spiders / "a.py").write_text(SPIDER.format(name="a"))
    (spiders / "b.py").write_text("1 / 0\n")
    (spiders / "more" / "c.py").write_text(SPIDER.format(name="c"))
    lines = {"SPIDER_MODULES": ["toys.spiders"]} | settings
    text = "".join(f"{name} = {value!r}\n" for name, value in lines.items())
    (folder / "toys" / "settings.py").write_text(text)


def load(*modules: str) -> Project:
    project = Project(load_settings())
    project.load(modules)
    return project


def test_a_projects_spiders_are_loaded_but_for_what_fails(folder: Path) -> None:
    make_project(folder)
    project = load()
    assert sorted(project.spiders) == ["a", "c"]
    assert project.errors == {"toys.spiders.b": "ZeroDivisionError: division by zero"}


def test_modules_alone_need_no_project(folder: Path) -> None:
    (folder / "lone.py").write_text(SPIDER.format(name="one"))
    assert list(load("lone").spiders) == ["one"]


def test_without_any_spider_it_says_why(folder: Path) -> None:
    with pytest.raises(NothingToRun, match="No module named 'lone'"):
        load("lone")
    (folder / "lone.py").touch()
    with pytest.raises(NothingToRun, match="there is none"):
        load("lone")


def test_the_add_on_is_there_and_no_port_is_opened(folder: Path) -> None:
    make_project(folder, ADDONS={"other.Addon": 1}, TELNETCONSOLE_ENABLED=True)
    settings = load_settings()
    assert settings.getdict("ADDONS") == {"other.Addon": 1, ADDON: 500}
    assert not settings.getbool("TELNETCONSOLE_ENABLED")
    assert not settings.getbool("REMOTE_CONTROL_ENABLED")
    assert settings["TWISTED_REACTOR"] == REACTOR


def test_an_add_on_that_is_there_keeps_its_place(folder: Path) -> None:
    make_project(folder, ADDONS={ADDON: 7})
    assert load_settings().getdict("ADDONS") == {ADDON: 7}
