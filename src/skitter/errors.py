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


class UnsupportedQuery(SkitterError, ValueError):
    """The query {query!r} cannot be run: {reason}

    Write it in CSS that lexbor knows, use response.xpath, or do without SKITTER_SELECTORS.
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


class PauseRefused(FrontierError):
    """The server at {server} lets no writes wait, so no moment of it can be copied: {reason}

    The user in redis.url needs the command CLIENT PAUSE; or use the server's own snapshots.
    """


class PauseTooShort(FrontierError):
    """The frontier could not be copied within the {longest_s:g} s that writes may wait.

    Give it longer (--pause), or use the server's own snapshots (RDB).
    """


class FrontierNotEmpty(FrontierError):
    """There are jobs on the server at {server} already, in this namespace.

    Name an empty server or another redis.namespace, or let what is there be deleted (--force).
    """


class SinkError(SkitterError):
    """The sink {sink} could not store the items: {reason}

    Nothing is lost: a page is done only when its items are stored, and they are tried again.
    """


class UnknownSink(SinkError):
    """There is no sink for {url}: {reason}

    Set items.sink to a URL of one of these forms: {known}.
    """


class SinkFull(SinkError):
    """The disk that holds {sink} is full: {reason}

    Free some space there. Nothing is lost: the crawl waits, and goes on by itself.
    """


class SinkReadOnly(SinkError):
    """The sink {sink} cannot be written: {reason}

    Let this user write the file and its folder (SQLite keeps two more files beside it), or set
    items.sink to a place that can be written.
    """


class SinkBusy(SinkError):
    """Another program has kept {sink} locked for {waited_s:g} s.

    Close whatever has it open for writing: a shell, a viewer, a backup. The items are tried again.
    """


class SinkDamaged(SinkError):
    """The sink {sink} is damaged, or is something else: {reason}

    Put the file aside, with those beside it that begin with its name, and a new one is begun.
    """


class SinkGone(SinkError):
    """The file of {sink} was deleted or replaced while it was open.

    Put it back, or restart the process, which then begins a new one. Until then nothing is written.
    """


class SinkRefused(SinkError):
    """The sink {sink} does not take these items: {reason}

    To try again would not help: what is in them has to change.
    """


class UnstorableItem(SinkRefused):
    """The item of {url} cannot be stored: its field {field} {reason}

    Convert it in the spider or in a pipeline; docs/items.md lists what is converted by itself.
    """


class NoHistory(SinkError):
    """The sink {sink} keeps no history of its items.

    SQLite, PostgreSQL, MongoDB and files do: put one of them in items.sink.
    """


class BadPlace(SkitterError):
    """There is no page of items after {place!r}.

    Give the place that came with the page before.
    """


class BadCondition(SkitterError):
    """The condition {text!r} cannot be read.

    Write a field, one of = != < <= > >= ~ !~, and a value: price<100, brand=Acme, name~chair.
    A field alone asks that it has a value, and !field that it has none.
    """


class AddonError(SkitterError):
    """The Scrapy add-on could not go on."""


class UnsupportedScrapy(AddonError):
    """Scrapy {version} is not one that the add-on knows: {differences}

    Install a Scrapy that it was made for (scrapy>=2.19,<2.20), or a newer Skitter.
    """


class UnsupportedSetting(AddonError):
    """The Scrapy setting {name} is {value}, and the add-on cannot work with that.

    {hint}
    """


class UnstorableRequest(AddonError):
    """The spider {spider} made a request for {url} whose {field} cannot be stored: {reason}

    Callbacks must be methods of the spider; meta and cb_kwargs take text, numbers, bytes, lists,
    tuples, sets, dictionaries, dates, times, decimals, UUIDs, members of enums and items.
    """


class UnrunnableRequest(AddonError):
    """The spider {spider} cannot run the request for {url}: {reason}

    It was stored by another version of the spider, or by another spider.
    """


class UnsupportedByEngine(AddonError):
    """The fast engine cannot run the spider {spider}: {reasons}

    The compatible engine can: set worker.engine to scrapy or auto, or use skitter.addon.Addon.
    """


class AddonOff(AddonError):
    """The scheduler of skitter.compat.scrapy_redis needs an add-on of its own, which is not there.

    In the settings, in place of any other of Skitter's add-ons: ADDONS = {line}
    """


class OldQueue(AddonError):
    """The Redis key {key} holds {number} requests that scrapy-redis left as pickles.

    A pickle runs code in whoever reads it, so they are not read. Run the project under scrapy-redis
    until the key is gone, or throw them away: redis-cli DEL {key}
    """


class BadStartMessage(AddonError):
    """The start message {message} cannot be used: {reason}"""


class BadProxies(SkitterError):
    """The proxies cannot be used: {problems}

    A proxy reads scheme://user:password@host:port or host:port; see proxies.urls and proxies.files.
    """


class UnknownEgress(SkitterError):
    """There is no egress {egress}: its proxy is not, or no longer, among the proxies.

    Nothing is sent without a proxy in its place. Release the lease.
    """


class WorkerError(SkitterError):
    """The worker could not go on."""


class NoSpiders(WorkerError):
    """There is no Scrapy project in {folder} or above it: no scrapy.cfg.

    Go to the project's folder, name it with --project, or name a module with --spiders.
    """


class NothingToRun(WorkerError):
    """No spider could be loaded from {places}: {reasons}"""


class BadIdentities(SkitterError):
    """The identities of {source} cannot be used: {problem}

    The file lists sets, each with a user_agent and its headers by name; see identity.file.
    """


class BadScrapySetting(SkitterError):
    """The Scrapy setting {name} cannot be used: {value!r} {problem}"""


class SitemapError(SkitterError):
    """The sitemap {url} cannot be used: {reason}"""


class BadRecipe(SkitterError):
    """The recipe {source} cannot be used: {problems}

    docs/recipes.md says what a recipe may hold.
    """


class BadArgument(SkitterError):
    """The spider's argument {name} cannot be used: {value!r} {problem}

    docs/spiders.md lists the arguments of each spider.
    """


class BadSchema(SkitterError):
    """The JSON Schema {source} cannot be used: {problem}"""


class BadGates(SkitterError):
    """The gates of {source} cannot be used: {problem}

    docs/validation.md lists the gates of a run.
    """


class NotHeld(SkitterError):
    """{count} entries of the quarantine {file} have an id that begins with {id!r}; one should.

    `skitter quarantine list` shows them.
    """


class PageError(SkitterError):
    """The page {url} cannot be read: {reason}"""
