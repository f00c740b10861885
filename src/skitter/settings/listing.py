"""The settings as people and programs see them: rows, and the page in the docs."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from skitter.masking import mask_value
from skitter.settings.load import LoadedSettings
from skitter.settings.section import Section
from skitter.settings.sources import COMMON_NAMES, env_name, known_names, sections
from skitter.settings.tree import Settings

_PAGE_HEAD = """\
# Settings

<!-- Generated from the settings tree by `make docs`. Edits here are lost. -->

A setting is looked for in four places; the last one that has it wins:

1. its default,
2. `skitter.yaml` in the current folder, or the file that `SKITTER_CONFIG` names,
3. the environment: `SKITTER_SECTION__NAME`, with two underscores between section and name,
4. the command line: `--set section.name=value`.

```yaml
# skitter.yaml
politeness:
  delay_s: 2
```

Some common names are understood too, and rank between the file and the `SKITTER_` names:

{common}

`MONGODB_URI` (with `DATABASE_NAME`) and `POSTGRES_HOST` (with `POSTGRES_PORT`, `POSTGRES_USER`,
`POSTGRES_PASSWORD` and `POSTGRES_DB`) are `items.sink`, unless the file or anything else says.

An unknown name is an error that suggests the nearest one. `null` means no value. Sizes may
carry a unit: `16MiB`. Lists are separated by commas where only text can be given.
`skitter settings` shows what is in force and where it comes from, with passwords masked.
"""


@dataclass(frozen=True)
class Row:
    name: str
    value: Any
    source: str
    default: Any
    doc: str
    env: str


def list_settings(loaded: LoadedSettings) -> list[Row]:
    """One row for each setting, in the order of the tree, fit to be shown."""
    return [_row(name, loaded) for name in known_names()]


def render_page() -> str:
    """The text of docs/settings.md; it depends on the tree alone."""
    rows = list_settings(LoadedSettings(Settings(), {}))
    common = "\n".join(f"- `{env}` is `{name}`" for env, name in COMMON_NAMES.items())
    parts = [_PAGE_HEAD.format(common=common)]
    for name, section in sections().items():
        parts.append(f"\n## {name}\n\n{' '.join((section.__doc__ or '').split())}\n")
        parts += [_entry(row) for row in rows if row.name.startswith(f"{name}.")]
    return "".join(parts)


def _row(name: str, loaded: LoadedSettings) -> Row:
    section, _, key = name.partition(".")
    models = loaded.settings.model_dump(mode="json"), Settings().model_dump(mode="json")
    value, default = (mask_value(model[section][key], key) for model in models)
    kind: type[Section] = type(getattr(loaded.settings, section))
    doc = docs(kind).get(key, "")
    return Row(
        name=name,
        value=value,
        source=loaded.origins.get(name, "default"),
        default=default,
        doc=" ".join(doc.split()),
        env=env_name(name),
    )


@cache
def docs(section: type[Section]) -> dict[str, str]:
    """The docstring of each setting of a section, by its name."""
    (tree,) = ast.parse(inspect.getsource(section)).body
    assert isinstance(tree, ast.ClassDef)  # noqa: S101 - what a class's source is
    return {
        name.target.id: inspect.cleandoc(text.value.value)
        for name, text in pairwise(tree.body)
        if isinstance(name, ast.AnnAssign)
        and isinstance(name.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


def _entry(row: Row) -> str:
    return f"\n**`{row.name}`** = `{show(row.default)}` · `{row.env}`  \n{row.doc}\n"


def show(value: Any) -> str:
    """A value as it would be written in a file or on the command line."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ", ".join(map(show, value)) or "[]"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)
