"""Exceptions of the orchestrator; they belong to the tree of `skitter.errors`."""

from __future__ import annotations

from skitter.errors import SkitterError


class BadSchedule(SkitterError):
    """The schedule cannot be used: {problem}"""


class UnknownSchedule(SkitterError):
    """There is no schedule {schedule}.

    `skitter schedule list` shows those that there are.
    """


class ScheduleStands(SkitterError):
    """There is a schedule {schedule} already.

    Choose another name, or delete that one.
    """


class Superseded(SkitterError):
    """Another orchestrator leads now: what this one was about to do is left to it."""


class BadRules(SkitterError):
    """The alert rules cannot be used: {problem}

    `skitter alerts rules` shows them all.
    """


class BackupError(SkitterError):
    """The backup {path} cannot be made or read: {reason}"""


class RestoreRefused(SkitterError):
    """Nothing was restored: {reason}"""
