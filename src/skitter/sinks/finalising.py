"""One file of a job's segments, when the job is over: each item once, the last one of equals."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from skitter.errors import UnknownSink
from skitter.sinks.columns import Selection
from skitter.sinks.durable import explain, make_folder, sync_folder
from skitter.sinks.files import FORMS, Place
from skitter.sinks.forms import WRITERS
from skitter.sinks.reading import read_stored
from skitter.sinks.segments import recover_all
from skitter.sinks.stored import Wanted

if TYPE_CHECKING:
    from pathlib import Path


def finalise(url: str, job: str) -> tuple[Path, int]:
    """Write a job's items to `processed/JOB.FORM`; the file, and how many there are.

    Its segments stay where they are, so that it can be done again after more has come: the file is
    then replaced at once by a whole one. What dead writers left behind is finished first.
    """
    form, _, _ = url.partition(":")
    if form not in FORMS:
        raise UnknownSink(url=url, reason="only files are finalised", known="jsonl:data, csv:data")
    place = Place.of_url(url)
    try:
        recover_all(place.raw)
        return _write(place, url, job)
    except OSError as error:
        raise explain(place.name, error) from error


def _write(place: Place, url: str, job: str) -> tuple[Path, int]:
    path = place.processed(job)
    make_folder(path.parent)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as out:
            count = WRITERS[place.form](
                partial(read_stored, url, Wanted(job=job)), out, Selection()
            )
            out.flush()
            os.fsync(out.fileno())
        part.rename(path)
    except BaseException:
        with suppress(FileNotFoundError):
            part.unlink()
        raise
    sync_folder(path.parent)
    return path, count
