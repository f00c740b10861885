"""The OpenAPI document has an example for everything, and the docs are made from it."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from skitter import access_errors, errors, service_errors
from skitter.api.app import bare_app
from skitter.api.problems import STATUSES, status_of
from skitter.api.reference import render_page
from skitter.errors import SkitterError
from skitter.orchestrator import errors as orchestrator_errors

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[3]
DOCUMENT = bare_app().openapi()
OPERATIONS = [
    pytest.param(operation, id=f"{method.upper()} {path}")
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
]
MODULES = (errors, access_errors, service_errors, orchestrator_errors)


def kinds(module: ModuleType) -> list[type[SkitterError]]:
    found = [kind for _, kind in inspect.getmembers(module, inspect.isclass)]
    return [kind for kind in found if issubclass(kind, SkitterError)]


def test_the_page_in_the_docs_is_the_one_that_is_made() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert page == render_page(), "run `make docs`"


def test_examples_in_the_docs_are_python() -> None:
    (text,) = re.findall(r"```python\n(.*?)```", render_page(), re.DOTALL)
    ast.parse(text)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_says_what_it_does_and_has_examples(operation: dict[str, Any]) -> None:
    assert operation["description"].endswith((".", "…"))
    bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
    contents = [each for body in bodies for each in body.get("content", {}).values()]
    assert contents
    for content in contents:
        assert content["example"] not in (None, "", {})
        whole = {"components": DOCUMENT["components"]} | content["schema"]
        jsonschema.validate(content["example"], whole)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_but_the_open_ones_needs_a_key_and_may_refuse(
    operation: dict[str, Any],
) -> None:
    is_open = "security" not in operation
    assert is_open == (
        operation["tags"][0] in ("health", "Scrapy Cluster") and not _closed(operation)
    )
    if not is_open:
        assert {"401", "403", "413", "422", "429", "503"} <= set(operation["responses"])


def _closed(operation: dict[str, Any]) -> bool:
    return "401" in operation["responses"]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_error_has_a_status(module: ModuleType) -> None:
    own = {kind for kind in kinds(module) if kind.__module__ == module.__name__}
    for kind in own - {SkitterError}:
        nearest = next(each for each in kind.__mro__ if each in STATUSES)
        assert 400 <= STATUSES[nearest] < 600


def test_an_error_without_a_line_of_its_own_has_its_parents() -> None:
    assert status_of(errors.SinkFull(sink="s", reason="r")) == 503
    assert status_of(errors.UnstorableItem(url="u", field="f", reason="r")) == 422
    assert status_of(access_errors.NotAllowed(key="k", role="viewer", needed="admin")) == 403


@pytest.mark.parametrize("kind", kinds(access_errors), ids=lambda kind: kind.__name__)
def test_errors_of_the_api_have_messages(kind: type[SkitterError]) -> None:
    names = re.findall(r"{(\w+)", kind.__doc__ or "")
    error = kind(**dict.fromkeys(names, 7))
    assert "{" not in str(error)
