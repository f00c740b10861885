"""Roles, and the one who asks. A role may all that the ones below it may."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """viewer reads; operator changes jobs, hosts and dead letters; admin keys and settings too."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"

    def covers(self, needed: Role) -> bool:
        """Whether this role may do what needs the other."""
        order = list(Role)
        return order.index(self) >= order.index(needed)


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks, by a key. With a project, only what belongs to that project is there for them."""

    key: str
    name: str
    role: Role
    project: str | None = None

    def sees(self, project: str) -> bool:
        """Whether what belongs to a project is there for them."""
        return self.project in (None, project)
