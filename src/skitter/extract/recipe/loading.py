"""A recipe from its file, or one error that names every mistake with its line."""

from __future__ import annotations

import difflib
from hashlib import blake2b
from pathlib import Path as FilePath
from typing import Any

from pydantic import BaseModel, ValidationError

from skitter.errors import BadRecipe
from skitter.extract.recipe import model
from skitter.extract.recipe.extracting import Recipe
from skitter.extract.recipe.yaml_lines import Path, YamlProblem, line_of, load_with_lines

MOST_BYTES = 256 << 10


def load_recipe(path: FilePath) -> Recipe:
    """The recipe of a file; raises BadRecipe."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BadRecipe(source=path, problems=f"it has more than {MOST_BYTES} bytes")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadRecipe(source=path, problems=f"it cannot be read: {error}") from error
    return parse_recipe(text, source=str(path))


def parse_recipe(text: str, *, source: str = "recipe") -> Recipe:
    """The recipe of a text; source is its name in messages."""
    try:
        value, lines = load_with_lines(text)
    except YamlProblem as problem:
        raise BadRecipe(source=source, problems=f"line {problem.line}: {problem}") from problem
    if not isinstance(value, dict):
        raise BadRecipe(source=source, problems="it should have name and pages")
    try:
        found = model.RecipeFile.model_validate(value)
    except ValidationError as error:
        problems = [_told(detail, lines) for detail in error.errors()]
        raise BadRecipe(source=source, problems=_joined(problems)) from error
    lost = _lost_pages(found, lines)
    if lost:
        raise BadRecipe(source=source, problems=_joined(lost))
    version = blake2b(text.encode(), digest_size=6).hexdigest()
    return Recipe(found, source=source, version=version)


def _lost_pages(found: model.RecipeFile, lines: dict[Path, int]) -> list[str]:
    """Links that lead to pages which the recipe does not have."""
    problems = []
    for name, page in found.pages.items():
        for at, follow in enumerate(page.follow):
            if follow.page is not None and follow.page not in found.pages:
                line = line_of(lines, ("pages", name, "follow", at, "page"))
                near = difflib.get_close_matches(follow.page, found.pages, n=1)
                guess = f"; did you mean {near[0]}?" if near else ""
                where = f"pages.{name}.follow.{at}.page"
                problems.append(f"line {line}: {where}: there is no page {follow.page!r}{guess}")
    return problems


def _told(detail: Any, lines: dict[Path, int]) -> str:
    path = _as_written(tuple(part for part in detail["loc"] if part != "[key]"), lines)
    shown = ".".join(str(part) for part in path) or "the recipe"
    return f"line {line_of(lines, path)}: {shown}: {_message(detail)}"


def _as_written(path: Path, lines: dict[Path, int]) -> Path:
    """A path without the parts that a short form stands for: `price.any.0.css` is `price.css`."""
    if "any" not in path or path[: path.index("any") + 1] in lines:
        return path
    at = path.index("any")
    short = path[:at] + path[at + 2 :]
    return short if short in lines else path[:at]


def _message(detail: Any) -> str:
    if detail["type"] == "extra_forbidden":
        name = str(detail["loc"][-1])
        near = difflib.get_close_matches(name, _names(), n=1, cutoff=0.6)
        return f"there is no such key{f'; did you mean {near[0]}?' if near else ''}"
    if detail["type"] == "missing":
        return "it is needed"
    message: str = detail["msg"]
    return message.removeprefix("Value error, ").replace("Input should", "it should")


def _names() -> list[str]:
    parts = [
        one for one in vars(model).values() if isinstance(one, type) and issubclass(one, BaseModel)
    ]
    return [field.alias or name for part in parts for name, field in part.model_fields.items()]


def _joined(problems: list[str]) -> str:
    if len(problems) == 1:
        return problems[0]
    return "\n- ".join([f"there are {len(problems)} problems", *problems])
