"""The OpenAPI document: what FastAPI makes of the routes, with keys, and with plain examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from skitter import __version__
from skitter.api.examples import add_examples
from skitter.api.guard import OPEN
from skitter.api.problems import MEDIA_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fastapi import APIRouter, FastAPI
    from fastapi.dependencies.models import Dependant

ABOUT = """\
Everything that `skitter` does on the command line, over HTTP.

Send a key with every request: `Authorization: Bearer sk_…`. A viewer reads, an operator changes
jobs, hosts and dead letters, an admin keys too. A key for a project sees that project alone. Errors
are problem details (RFC 9457). A POST with an `Idempotency-Key` header may be repeated safely.
"""


def install(app: FastAPI, routers: Sequence[APIRouter]) -> None:
    """Let the app give this document as its own, made once."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = make_schema(app, routers)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def make_schema(app: FastAPI, routers: Sequence[APIRouter]) -> dict[str, Any]:
    """The document."""
    schema = get_openapi(title="Skitter", version=__version__, description=ABOUT, routes=app.routes)
    components = schema.setdefault("components", {})
    components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    for name in ("HTTPValidationError", "ValidationError"):
        components.get("schemas", {}).pop(name, None)
    needs = _needs(routers)
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            if path not in OPEN:
                operation["security"] = [{"key": []}]
            if role := needs.get((path, method.upper())):
                operation["x-needs"] = role
            _problems_only(operation)
    add_examples(schema)
    return schema


def _needs(routers: Sequence[APIRouter]) -> dict[tuple[str, str], str]:
    """The role that each operation takes, by path and method."""
    found: dict[tuple[str, str], str] = {}
    for route in (route for router in routers for route in router.routes):
        if not isinstance(route, APIRoute):
            continue
        for call in _calls(route.dependant):
            if role := getattr(call, "needs", ""):
                found |= {(route.path_format, method): role for method in route.methods or ()}
    return found


def _calls(dependant: Dependant) -> Iterator[object]:
    for each in dependant.dependencies:
        yield each.call
        yield from _calls(each)


def _problems_only(operation: dict[str, Any]) -> None:
    """A problem comes as problem+json alone, whatever FastAPI adds."""
    for response in operation["responses"].values():
        content = response.get("content", {})
        if MEDIA_TYPE in content and content.get("application/json", {}) == content[MEDIA_TYPE]:
            del content["application/json"]
