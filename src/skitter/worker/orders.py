"""What a child is told when it starts: one line of JSON on its stdin, so no secret is in `ps`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from skitter.errors import SettingsError
from skitter.settings import Settings

MOST_SHARDS = 1024


class Restriction(BaseModel):
    """What a worker keeps to: spiders by name, hosts, shards. Empty: everything."""

    model_config = ConfigDict(frozen=True)

    only: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    shards: tuple[int, ...] = ()

    def takes(self, spider: str) -> bool:
        """Whether lanes of this spider are for this worker."""
        return not self.only or spider in self.only


class Orders(BaseModel):
    """A child's name and task. Spiders come from modules, or from the project of its folder, and
    with shipped from Skitter itself, where those have none of the name.

    parent is the process that started it: a child whose parent is another is an orphan.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    parent: int
    settings: Settings
    modules: tuple[str, ...] = ()
    restriction: Restriction = Restriction()
    shipped: bool = False

    def line(self) -> bytes:
        """As it is written to the child."""
        return self.model_dump_json().encode() + b"\n"


def parse_shards(text: str) -> tuple[int, ...]:
    """Shards as people write them: `0-3`, `0,2,5-7`. Raises SettingsError."""
    found: set[int] = set()
    for part in filter(None, text.replace(" ", "").split(",")):
        first, _, last = part.partition("-")
        try:
            low, high = int(first), int(last or first)
        except ValueError:
            raise SettingsError(problems=f"--shards {text} is not like 0-3 or 0,2,5") from None
        if not 0 <= low <= high < MOST_SHARDS:
            raise SettingsError(problems=f"--shards {text}: {part} is no range of shards")
        found.update(range(low, high + 1))
    return tuple(sorted(found))
