"""The forms in which items leave: JSON Lines, JSON, CSV, XLSX, Parquet.

Each is written as it is read, in constant memory. A table has to know its columns before its first
row, so that what is exported as one is read twice, unless the fields are named. An item that
appears between the two readings loses fields that none had before; a job that has ended has none.
"""

from __future__ import annotations

import csv
import io
from contextlib import suppress
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

from skitter.sinks.columns import Columns, Selection
from skitter.sinks.extras import extra
from skitter.sinks.json_text import to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from skitter.sinks.stored import Stored

    Source = Callable[[], Iterable[Stored]]
    Writer = Callable[[Source, IO[bytes], Selection], int]

GROUP_ROWS, GROUP_CHARS = 3_000, 3 * 1024**2
SHEET_ROWS, CELL_CHARS = 1_048_576, 32_767
_UTF8 = "utf-8"


def write_jsonl(source: Source, out: IO[bytes], selection: Selection) -> int:
    """One object on each line."""
    count = 0
    for found in source():
        out.write(to_json(selection.record(found), url=found.item.url).encode() + b"\n")
        count += 1
    return count


def write_json(source: Source, out: IO[bytes], selection: Selection) -> int:
    """One list of objects."""
    count = 0
    for found in source():
        out.write(b",\n" if count else b"[\n")
        out.write(to_json(selection.record(found), url=found.item.url).encode())
        count += 1
    out.write(b"\n]\n" if count else b"[]\n")
    return count


def write_csv(source: Source, out: IO[bytes], selection: Selection) -> int:
    """A line of names, then one for each item; what is nested is JSON, what is missing empty."""
    columns = _columns(source, selection)
    # Half characters, as pages may hold, have no form in UTF-8.
    text = io.TextIOWrapper(out, _UTF8, errors="replace", newline="", write_through=False)
    table = csv.writer(text, lineterminator="\n")
    table.writerow(columns.types)
    count = 0
    for found in source():
        table.writerow(map(_in_csv, columns.cells(selection.record(found))))
        count += 1
    text.flush()
    text.detach()
    return count


def write_xlsx(source: Source, out: IO[bytes], selection: Selection) -> int:
    """A workbook, with a further sheet whenever one is full."""
    with extra("xlsx", what="Export to XLSX"):
        import xlsxwriter  # noqa: PLC0415 - it comes with an extra
    columns = _columns(source, selection)
    options = {"constant_memory": True, "strings_to_urls": False, "strings_to_formulas": False}
    count = 0
    with xlsxwriter.Workbook(out, options) as book:
        rows = (columns.cells(selection.record(found)) for found in source())
        for number in range(1, 1000):
            written = _write_sheet(book.add_worksheet(f"items {number}"), list(columns.types), rows)
            count += written
            if written < SHEET_ROWS - 1:
                break
    return count


def _write_sheet(sheet: Any, names: list[str], rows: Iterator[list[Any]]) -> int:
    sheet.write_row(0, 0, names)
    count = 0
    for count, row in enumerate(islice(rows, SHEET_ROWS - 1), start=1):
        sheet.write_row(count, 0, [_in_cell(value) for value in row])
    return count


def write_parquet(source: Source, out: IO[bytes], selection: Selection) -> int:
    """Typed columns in groups of rows, compressed."""
    with extra("parquet", what="Export to Parquet"):
        import pyarrow as pa  # noqa: PLC0415 - it comes with an extra
        import pyarrow.parquet as pq  # noqa: PLC0415 - the same
    columns = _columns(source, selection)
    types = {"bool": pa.bool_(), "int": pa.int64(), "float": pa.float64()}
    schema = pa.schema(
        [(name, types.get(kind, pa.string())) for name, kind in columns.types.items()]
    )
    count = 0
    rows = (columns.cells(selection.record(found)) for found in source())
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for group in _groups(rows):
            cells = zip(*group, strict=True)
            arrays = [
                pa.array(map(_encodable, column), part.type)
                for column, part in zip(cells, schema, strict=True)
            ]
            writer.write_table(pa.table(arrays, schema=schema))
            count += len(group)
    return count


def _groups(rows: Iterable[list[Any]]) -> Iterator[list[list[Any]]]:
    """Rows in groups that are bounded in number and in size."""
    group: list[list[Any]] = []
    chars = 0
    for row in rows:
        group.append(row)
        chars += sum(len(value) for value in row if isinstance(value, str))
        if len(group) >= GROUP_ROWS or chars >= GROUP_CHARS:
            yield group
            group, chars = [], 0
    if group:
        yield group


WRITERS: dict[str, Writer] = {
    "jsonl": write_jsonl,
    "json": write_json,
    "csv": write_csv,
    "xlsx": write_xlsx,
    "parquet": write_parquet,
}


def _columns(source: Source, selection: Selection) -> Columns:
    return Columns.of(selection.record(found) for found in source())


def _in_csv(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _in_cell(value: Any) -> Any:
    """A sheet's numbers are floats, and its texts have an end."""
    if isinstance(value, str):
        return _encodable(value)[:CELL_CHARS]
    if isinstance(value, int) and abs(value) > 2**53:
        return str(value)
    return value


def _encodable(value: Any) -> Any:
    if isinstance(value, str) and not value.isascii():
        with suppress(UnicodeEncodeError):
            value.encode()
            return value
        return value.encode(errors="replace").decode()
    return value
