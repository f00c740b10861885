"""`skitter init`: a new project, which is a Scrapy project as well and runs at once."""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Annotated

import typer

from skitter.cli.asking import tell_json
from skitter.cli.options import Json
from skitter.service_errors import CannotInit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

SUFFIX = ".tmpl"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


def init(
    name: Annotated[str, typer.Argument(help="The project's name, which its folder gets too.")],
    *,
    folder: Annotated[
        Path | None, typer.Option("--dir", help="Another folder for it; it must be empty.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a new project: settings, items, a spider, a recipe and a test; it runs at once.

    Example: skitter init shop && cd shop && skitter crawl products --lab
    """
    target = folder or Path(name)
    package = package_of(name)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise CannotInit(name=name, reason=f"{target} is there, and is not empty")
    written = write_project(target, name=name, package=package)
    if as_json:
        tell_json({"folder": str(target), "package": package, "files": written})
        return
    typer.echo(
        f"A new project in {target}:\n  "
        + "\n  ".join(written)
        + f"\n\nNext:\n  cd {target}\n  skitter crawl products --lab    (the demo shop)\n"
        "  skitter items\n  skitter doctor"
    )


def package_of(name: str) -> str:
    """The name of the project's package; raises CannotInit for one that cannot be."""
    package = name.replace("-", "_").lower()
    if not _NAME.fullmatch(name):
        reason = "a name has letters, digits, - and _, and begins with a letter"
    elif keyword.iskeyword(package) or package in sys.stdlib_module_names:
        reason = "Python has something of that name"
    elif package in ("tests", "recipes") or _is_installed(package):
        reason = f"there is a package {package} already"
    else:
        return package
    raise CannotInit(name=name, reason=reason)


def write_project(target: Path, *, name: str, package: str) -> list[str]:
    """Write all files; their paths, as the project has them."""
    written = []
    for path, template in sorted(_templates(files("skitter.cli") / "template", Path())):
        place = Path(*(package if part == "package" else part for part in path.parts))
        text = Template(template).substitute(name=name, package=package)
        (target / place).parent.mkdir(parents=True, exist_ok=True)
        (target / place).write_text(text, encoding="utf-8")
        written.append(str(place))
    return written


def _templates(folder: Traversable, path: Path) -> Iterator[tuple[Path, str]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _templates(entry, path / entry.name)
        elif entry.name.endswith(SUFFIX):
            name = entry.name.removesuffix(SUFFIX).replace("gitignore", ".gitignore")
            yield path / name, entry.read_text(encoding="utf-8")


def _is_installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None
