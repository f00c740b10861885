"""YAML with the line of each value, so that a mistake can be pointed at."""

from __future__ import annotations

from typing import Any

import yaml

Path = tuple[str | int, ...]


class YamlProblem(ValueError):
    """What is wrong with a text, and in which line."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line


def load_with_lines(text: str) -> tuple[Any, dict[Path, int]]:
    """The value of a YAML text, and the line of each part of it."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        value = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "it is no YAML"
        raise YamlProblem(mark.line + 1 if mark else 1, problem) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise YamlProblem(1, f"it is no YAML: {error}") from error
    lines: dict[Path, int] = {}
    if node is not None:
        _note(node, lines)
    return value, lines


def _note(root: yaml.Node, lines: dict[Path, int]) -> None:
    seen: set[int] = set()
    waiting: list[tuple[yaml.Node, Path]] = [(root, ())]
    while waiting:
        node, path = waiting.pop()
        if id(node) in seen and not isinstance(node, yaml.ScalarNode):
            raise YamlProblem(node.start_mark.line + 1, "aliases (*name) are not allowed")
        seen.add(id(node))
        lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.SequenceNode):
            waiting.extend((child, (*path, at)) for at, child in enumerate(node.value))
        elif isinstance(node, yaml.MappingNode):
            waiting.extend(_members(node, path, lines))


def _members(
    node: yaml.MappingNode, path: Path, lines: dict[Path, int]
) -> list[tuple[yaml.Node, Path]]:
    found = []
    for key, child in node.value:
        inner = (*path, str(key.value))
        if inner in lines:
            raise YamlProblem(key.start_mark.line + 1, f"{key.value} is there twice")
        lines[inner] = key.start_mark.line + 1
        found.append((child, inner))
    return found


def line_of(lines: dict[Path, int], path: Path) -> int:
    """The line of a part, or of the nearest part around it."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)
