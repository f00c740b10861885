"""How dead letters look, for people and for machines."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from skitter.masking import mask_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skitter.frontier.dead import DeadLetter


def letter_values(letter: DeadLetter) -> dict[str, Any]:
    """One letter with its request; bytes are told as text."""
    values = asdict(letter)
    del values["shard"], values["at_ms"]
    request = values.pop("request")
    if request:
        request["body"] = letter.request.body.decode("utf-8", "replace") if letter.request else ""
    return values | {"at": moment(letter.at_ms), "request": request}


class Groups:
    """How many of each host and reason, with the newest error of each. The newest come first."""

    def __init__(self) -> None:
        self.letters = 0
        self._groups: dict[tuple[str, str], dict[str, Any]] = {}

    def add(self, letters: Sequence[DeadLetter]) -> None:
        """Count some more."""
        self.letters += len(letters)
        for letter in letters:
            found = self._groups.setdefault(
                (letter.host, letter.reason),
                {
                    "host": letter.host,
                    "reason": letter.reason,
                    "count": 0,
                    "last": moment(letter.at_ms),
                    "error": letter.error,
                },
            )
            found["count"] += 1

    def values(self) -> list[dict[str, Any]]:
        """The most first."""
        return sorted(self._groups.values(), key=lambda entry: -int(entry["count"]))


def letters_table(letters: Sequence[DeadLetter]) -> Table:
    """A line for each: id, time, reason, tries, URL."""
    table = Table("id", "at", "reason", "tries")
    table.add_column("url", no_wrap=True, overflow="ellipsis")
    for letter in letters:
        url = letter.request.url if letter.request else "(cannot be read)"
        table.add_row(
            letter.id,
            moment(letter.at_ms)[5:16].replace("T", " "),
            Text(letter.reason),
            str(letter.attempts),
            Text(mask_text(url)),
        )
    return table


def group_table(groups: list[dict[str, Any]]) -> Table:
    """Host by reason."""
    table = Table("host", "reason")
    table.add_column("count", justify="right")
    table.add_column("last error", no_wrap=True, overflow="ellipsis")
    for entry in groups:
        table.add_row(
            Text(entry["host"]),
            Text(entry["reason"]),
            f"{entry['count']:,}",
            Text(mask_text(" ".join(entry["error"].split()))),
        )
    return table


def letter_table(values: dict[str, Any]) -> Table:
    """One letter, line by line; what is empty is left out."""
    table = Table("dead letter", values["id"])
    request = values["request"] or {}
    shown = {name: values[name] for name in ("job", "host", "reason", "error", "attempts", "at")}
    aside = ("job", "attempts", "key", "crashes")
    shown |= {name: value for name, value in request.items() if value and name not in aside}
    for name, value in shown.items():
        table.add_row(name, Text(mask_text(str(value))))
    return table


def moment(ms: float) -> str:
    """A server's time as UTC text."""
    text = datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
