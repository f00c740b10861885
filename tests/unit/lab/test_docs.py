from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from skitter.lab import ExchangeSpec, Judging, ShopSpec, WebSpec
from skitter.lab.spec import STATUS_FAULTS, WIRE_FAULTS

TEXT = (Path(__file__).parents[3] / "docs" / "lab.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [field.name for field in fields(WebSpec)])
def test_every_field_of_a_web_is_documented(name: str) -> None:
    assert f"`{name}`" in TEXT


@pytest.mark.parametrize("spec", [ShopSpec, ExchangeSpec])
def test_every_field_of_the_demo_sites_is_documented(spec: type) -> None:
    section = TEXT.partition(f"| field of `{spec.__name__}`")[2].partition("\n\n")[0]
    missing = [field.name for field in fields(spec) if f"`{field.name}`" not in section]
    assert missing == []


@pytest.mark.parametrize("name", [*STATUS_FAULTS, *WIRE_FAULTS])
def test_every_fault_is_documented(name: str) -> None:
    assert name in TEXT


@pytest.mark.parametrize("name", [field.name for field in fields(Judging)])
def test_every_way_of_judging_is_documented(name: str) -> None:
    assert name in TEXT
