"""`skitter.Crawl`: one job, run by this process, for scripts and notebooks.

All of it runs in a thread with an event loop of its own, so that it works where a loop is running
already, as in a notebook. Items are stored first and given then: what a script has seen is durable.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from skitter.crawl.background import Background
from skitter.jobs.submission import Submission
from skitter.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import TracebackType

    from scrapy import Spider

    from skitter.jobs.view import Figures, JobView

LINK = "link"


class Crawl:
    """A crawl of some URLs, or of what a spider starts with.

    spider is a class, or the name of one in the Scrapy project of this folder or of those that come
    with Skitter. Without one, `link` gives each page with its title, text and links; args are the
    spider's (`depth="2"`). Other fields are a submission's: max_pages, scope, labels, sinks, id.
    settings are Skitter's own, by their dotted names, over skitter.yaml and the environment; folder
    is where the server, the store and the items are, unless those say otherwise.
    """

    def __init__(
        self,
        *urls: str,
        spider: type[Spider] | str | None = None,
        args: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        folder: Path | str | None = None,
        **fields: Any,
    ) -> None:
        given = {name: str(value) for name, value in (args or {}).items()}
        name = spider if isinstance(spider, str) else getattr(spider, "name", None) or LINK
        if spider is None and urls:
            given["urls"], urls = " ".join(urls), ()
        self._submission = Submission(spider=name, args=given, seeds=urls, **fields)
        self._submission.check()
        self._background = Background(
            load_settings(_placed(folder) | dict(settings or {})),
            self._submission,
            spider=None if isinstance(spider, str) else spider,
        )

    @property
    def job(self) -> str:
        """The job's id, once it is started."""
        return self._background.job

    def run(self) -> Iterator[dict[str, Any]]:
        """Start, and give items as they are stored, until the crawl has ended.

        A reader that is slow slows the crawl down; one that stops reading early stops it.
        """
        self._background.start(tapped=True)
        try:
            yield from self._background.items()
            self._background.wait(None)
        finally:
            self._background.stop()

    def start(self) -> Self:
        """Start, and return at once; items go to where the settings or the job say."""
        self._background.start(tapped=False)
        return self

    def stats(self) -> Figures:
        """Its figures, as they are now."""
        return self.view().figures

    def view(self) -> JobView:
        """The job as it is now: state, outcome, figures, and what it waits for."""
        return self._background.view()

    def wait(self, timeout_s: float | None = None) -> JobView:
        """Return when it has ended; raises TimeoutError, and what went wrong."""
        return self._background.wait(timeout_s)

    def stop(self) -> JobView:
        """End it now, as cancelled, and return when all is put away. It may have ended before."""
        return self._background.stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def _placed(folder: Path | str | None) -> dict[str, Any]:
    if folder is None:
        return {}
    place = Path(folder).absolute()
    return {
        "embedded.dir": str(place),
        "store.url": f"sqlite:{place / 'skitter.db'}",
        "items.sink": f"sqlite:{place / 'items.db'}",
        "jobs.export_dir": str(place / "exports"),
    }
