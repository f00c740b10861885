"""What `skitter push` shows: how far it is, the lines that it could not read, and the counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from skitter.masking import mask_text

if TYPE_CHECKING:
    from types import TracebackType

    from skitter.jobs import Seed, Tally

TOLD_LINES = 10


class Reporter:
    """A progress bar on a terminal; elsewhere only the first lines that could not be read."""

    def __init__(self, tally: Tally, *, total: int | None) -> None:
        self._tally = tally
        self._console = Console(stderr=True)
        self._told = 0
        self._progress = Progress(
            SpinnerColumn(),
            BarColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
            transient=True,
        )
        self._task = self._progress.add_task("…", total=total)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def update(self, group: list[Seed]) -> None:
        """Show how far the push is, and tell what is wrong with lines of this group."""
        tally = self._tally
        text = f"{tally.new:,} new, {tally.known:,} known, {tally.turned_down:,} refused"
        self._progress.update(self._task, description=text, completed=tally.bytes_read)
        for seed in group:
            if seed.request is None:
                self._tell(seed)

    def _tell(self, seed: Seed) -> None:
        self._told += 1
        if self._told <= TOLD_LINES:
            text = f"{seed.place}: {seed.reason}"
        elif self._told == TOLD_LINES + 1:
            text = "more lines cannot be read; they are counted"
        else:
            return
        self._console.print(mask_text(text), markup=False, highlight=False, soft_wrap=True)


def values(tally: Tally, *, job: str, seconds: float) -> dict[str, Any]:
    """The counts for machines."""
    return {
        "job": job,
        "read": tally.read,
        "new": tally.new,
        "known": tally.known,
        "refused": tally.turned_down,
        "reasons": [
            {
                "reason": reason,
                "count": refused.count,
                "examples": [{"place": place, "text": text} for place, text in refused.examples],
            }
            for reason, refused in _by_count(tally)
        ],
        "seconds": round(seconds, 3),
    }


def show(tally: Tally, outcome: dict[str, Any], console: Console) -> None:
    """The counts for people."""
    how = "interrupted after" if outcome["interrupted"] else "in"
    title = f"Push to {outcome['job']}: {tally.read:,} read, {how} {outcome['seconds']:.1f} s"
    console.print(title, markup=False, highlight=False, soft_wrap=True)
    table = Table("", "count", "such as")
    table.columns[1].justify = "right"
    table.add_row("new", f"{tally.new:,}")
    table.add_row("known", f"{tally.known:,}")
    for reason, refused in _by_count(tally):
        examples = "\n".join(f"{place} {text}".strip() for place, text in refused.examples)
        table.add_row(f"refused: {escape(reason)}", f"{refused.count:,}", escape(examples))
    console.print(table)


def _by_count(tally: Tally) -> list[tuple[str, Any]]:
    return sorted(tally.refused.items(), key=lambda entry: -entry[1].count)
