from __future__ import annotations

import sys
from importlib import import_module
from subprocess import run
from typing import TYPE_CHECKING

import pytest

from skitter.engine.loading import postponed, without

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.unit

SELDOM = """
NUMBER = 7
class Thing:
    kind = "real"
    def __init__(self, name): self.name = name
"""
USER = """
import seldom
from seldom import Thing
def named(name: Thing | None): return Thing(name).name
def kind(): return Thing.kind
def number(): return seldom.NUMBER
def is_thing(one): return isinstance(one, Thing)
"""
HASTY = """
import seldom
NUMBER = seldom.NUMBER
"""
HEIR = """
from seldom import Thing
class Heir(Thing): pass
"""


@pytest.fixture(autouse=True)
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {"seldom": SELDOM, "user": USER, "hasty": HASTY, "heir": HEIR}.items():
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize(
    ("use", "expected"), [("number", 7), ("kind", "real")], ids=["module", "name"]
)
def test_what_is_imported_is_loaded_when_it_is_used(use: str, expected: object) -> None:
    with postponed({"seldom": ("Thing",)}):
        user = import_module("user")
    assert "seldom" not in sys.modules
    assert getattr(user, use)() == expected
    assert sys.modules["seldom"].NUMBER == 7
    assert user.named("x") == "x"


def test_whoever_imports_it_later_gets_the_module_itself() -> None:
    with postponed({"seldom": ("Thing",)}):
        user = import_module("user")
    real = import_module("seldom")
    assert isinstance(real.Thing("x"), real.Thing)
    assert user.number() == real.NUMBER
    assert user.is_thing(real.Thing("x"))
    assert not user.is_thing("x")


def test_what_is_used_at_once_is_loaded_at_once() -> None:
    with postponed({"seldom": ()}):
        assert import_module("hasty").NUMBER == 7
    assert sys.modules["seldom"].NUMBER == 7


def test_a_class_can_be_derived_from_what_is_postponed() -> None:
    with postponed({"seldom": ("Thing",)}):
        heir = import_module("heir").Heir("x")
    assert (heir.name, heir.kind) == ("x", "real")
    assert isinstance(heir, import_module("seldom").Thing)


def test_what_is_loaded_already_stays() -> None:
    real = import_module("seldom")
    with postponed({"seldom": ("Thing",)}):
        assert import_module("user").Thing is real.Thing
    with without("seldom"):
        assert import_module("seldom") is real


def test_a_module_that_is_not_wanted_cannot_be_had_for_a_while() -> None:
    with without("seldom"), pytest.raises(ImportError):
        import_module("seldom")
    assert import_module("seldom").NUMBER == 7


def test_scrapy_is_loaded_without_what_the_engine_never_uses() -> None:
    code = """
import sys
from skitter.engine.loading import load_parts
load_parts()
print(*(name for name in ("cryptography", "OpenSSL.SSL", "requests", "twisted.internet.tcp",
    "twisted.internet.reactor", "filelock") if name in sys.modules))
from scrapy.downloadermiddlewares.cookies import _split_domain
from scrapy.utils.versions import get_versions
from scrapy.crawler import AsyncCrawlerProcess
print(dict(get_versions(["pyOpenSSL"]))["pyOpenSSL"])
import twisted.internet.asyncioreactor, requests
print(isinstance(requests.Session(), requests.Session))
"""
    told = run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    loaded, version, real = told.stdout.split("\n")[:3]
    assert loaded == ""
    assert "OpenSSL" in version
    assert real == "True"
