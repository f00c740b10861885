"""Every exception that Skitter raises on purpose, in one tree.

An exception's docstring is its message: the first paragraph is formatted with the fields
given to the constructor, the second, if there is one, is the hint: what to do about it.
Fields are attributes too, so that code can ask `error.url` and need not parse text.
"""

from __future__ import annotations

import inspect
from typing import Any


class SkitterError(Exception):
    """Skitter could not go on."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields
        self.summary, self.hint = _render(type(self), fields)
        super().__init__(self.summary)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["fields"][name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}") from None

    def __str__(self) -> str:
        return f"{self.summary}\n{self.hint}" if self.hint else self.summary

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors cross process borders, and keyword fields do not survive the default."""
        return _rebuild, (type(self), self.fields)


def _rebuild(kind: type[SkitterError], fields: dict[str, Any]) -> SkitterError:
    return kind(**fields)


def _render(kind: type[SkitterError], fields: dict[str, Any]) -> tuple[str, str]:
    """The message and the hint, each on one line unless a field holds line breaks."""
    paragraphs = (inspect.getdoc(kind) or kind.__name__).split("\n\n", 1)
    texts = [" ".join(paragraph.split()).format(**fields) for paragraph in paragraphs]
    return texts[0], texts[1] if len(texts) > 1 else ""


class SettingsError(SkitterError):
    """The settings are not usable: {problems}

    `skitter settings` lists every setting with its value and where it comes from.
    """


class MissingExtra(SkitterError):
    """{feature} needs the package {package}, which is not installed.

    Install it with: pip install 'skitter[{extra}]'
    """


class FrontierError(SkitterError):
    """The frontier could not do what it was asked."""


class ServerUnavailable(FrontierError):
    """The server at {server} has been away for {waited_s:g} s: {reason}

    Nothing accepted is lost. Start the server, or check redis.url; redis.patience_s sets how
    long a call waits.
    """


class ServerFull(FrontierError):
    """The server at {server} is out of memory and takes no new requests.

    Work in hand is still settled. Give it more memory (maxmemory), or stop a job.
    """


class ServerEvicts(FrontierError):
    """The server at {server} may throw keys away: its maxmemory-policy is {policy}.

    A crawl would lose requests without a word. Set maxmemory-policy to noeviction.
    """


class ServerReadOnly(FrontierError):
    """The server at {server} is read-only: it is a replica, or its disk failed.

    Point redis.url at the primary, or wait for the failover to end.
    """


class ServerTooOld(FrontierError):
    """The server at {server} is {version}; Skitter needs Redis 7.0 or Valkey 7.2, or later.

    Upgrade it, or leave redis.url empty to use the embedded server.
    """


class ShardMismatch(FrontierError):
    """The namespace {namespace} has {recorded} shards, but the settings say {wanted}.

    Set redis.shards to {recorded}, or choose another redis.namespace.
    """


class BadRequest(FrontierError):
    """The request for {url} is refused: {reason}"""


class UnknownJob(FrontierError):
    """There is no job {job}."""


class JobEnded(FrontierError):
    """The job {job} has ended ({outcome}) and takes no more requests."""


class JobInUse(FrontierError):
    """The job {job} cannot be forgotten yet: {reason}

    Stop it, let a caretaker sweep it, and replay or discard its dead letters.
    """


class StaleSequence(FrontierError):
    """The call {sequence} of worker {worker} is older than its last one, {last}.

    Two processes use the same worker name, or one came back from the dead. Give each a name of
    its own (worker.id).
    """


class BadReply(FrontierError):
    """The server answered {operation} with something that cannot be read: {reason}"""
