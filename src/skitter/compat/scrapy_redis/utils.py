"""scrapy-redis's small functions, under the module name by which its users import them."""

from __future__ import annotations

import json
from typing import Any


def bytes_to_str(s: bytes | str, encoding: str = "utf-8") -> str:
    """A message as text."""
    return s.decode(encoding) if isinstance(s, bytes) else s


def is_dict(string_content: str | bytes) -> bool:
    """Whether a message is a JSON object. Any other JSON is not one, in spite of scrapy-redis."""
    try:
        return isinstance(json.loads(string_content), dict)
    except ValueError:
        return False


def convert_bytes_to_str(data: Any, encoding: str = "utf-8") -> Any:
    """Bytes, and those in dictionaries and tuples, as text."""
    if isinstance(data, bytes):
        return data.decode(encoding)
    if isinstance(data, dict):
        return {
            convert_bytes_to_str(name, encoding): convert_bytes_to_str(value, encoding)
            for name, value in data.items()
        }
    if isinstance(data, tuple):
        return tuple(convert_bytes_to_str(value, encoding) for value in data)
    return data
