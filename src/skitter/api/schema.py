"""The OpenAPI document: what FastAPI makes of the routes, with keys, and with plain examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi.openapi.utils import get_openapi

from skitter import __version__
from skitter.api.guard import OPEN
from skitter.api.problems import MEDIA_TYPE

if TYPE_CHECKING:
    from fastapi import FastAPI

ABOUT = """\
Everything that `skitter` does on the command line, over HTTP.

Send a key with every request: `Authorization: Bearer sk_…`. A viewer reads, an operator changes
jobs, hosts and dead letters, an admin keys too. A key for a project sees that project alone. Errors
are problem details (RFC 9457). A POST with an `Idempotency-Key` header may be repeated safely.
"""


def install(app: FastAPI) -> None:
    """Let the app give this document as its own, made once."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = make_schema(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def make_schema(app: FastAPI) -> dict[str, Any]:
    """The document."""
    schema = get_openapi(title="Skitter", version=__version__, description=ABOUT, routes=app.routes)
    components = schema.setdefault("components", {})
    components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    for name in ("HTTPValidationError", "ValidationError"):
        components.get("schemas", {}).pop(name, None)
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            if path not in OPEN:
                operation["security"] = [{"key": []}]
            _problems_only(operation)
    return schema


def _problems_only(operation: dict[str, Any]) -> None:
    """A problem comes as problem+json alone, whatever FastAPI adds."""
    for response in operation["responses"].values():
        content = response.get("content", {})
        if MEDIA_TYPE in content and content.get("application/json", {}) == content[MEDIA_TYPE]:
            del content["application/json"]
