"""Read csv and parquet tables as text, exactly as written: ids are never numbers, and "NA" is an id like any other.

A table remembers its file, so that it can name a row the way a person looks for it: by the line an editor shows for
csv, by the 0-based row for parquet.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fairfr.core.errors import DataError, did_you_mean
from fairfr.core.text import error_summary, shorten_list
from fairfr.core.types import F64, I32, UNKNOWN, Bool
from fairfr.data.files import DataFile, sniff_format

# Ids are kept in fixed-width arrays: one endless cell (an unclosed quote, a column of texts) would fill the memory.
MAX_CELL = 1000
# a parquet file may always have so many rows, and so many for each of its bytes
ALLOWED_ROWS = 2_000_000
ROWS_PER_BYTE = 20
# its text may always take so many bytes, and so many for each of its bytes
ALLOWED_TEXT_BYTES = 2**28
TEXT_BYTES_PER_BYTE = 100


class CodedColumn(NamedTuple):
    """A column of text: ``codes`` (rows,) index the distinct ``values`` in order of appearance; -1 is blank."""

    codes: I32
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TextTable:
    """The wanted columns of one file; ``names`` lists all that the file has.

    ``delimiter`` separates the cells of a text file; None: it is not a text file.
    """

    file: DataFile
    names: tuple[str, ...]
    arrays: Mapping[str, Any]
    n_rows: int
    one_line_each: bool
    delimiter: str | None = None

    @property
    def path(self) -> Path:
        return self.file.path

    def location(self, row: int) -> str:
        """How a person finds ``row`` (0-based): its line in an editor for csv, else the row itself."""
        if self.delimiter is None:
            return f"row {row} (counting from 0)"
        return f"line {self._lines([row])[0]}"

    def places(self, rows: Sequence[int]) -> str:
        """``location`` of several rows: ``lines 3, 7 and 12 others``."""
        if len(rows) == 1:
            return self.location(rows[0])
        numbers = list(rows[:MAX_NAMED_ROWS])
        noun = "rows"
        counting = " (counting from 0)"
        if self.delimiter is not None:
            numbers = self._lines(numbers)
            noun = "lines"
            counting = ""
        if len(rows) > MAX_NAMED_ROWS:
            return f"{noun} {', '.join(map(str, numbers))} and {len(rows) - MAX_NAMED_ROWS:,} more{counting}"
        return f"{noun} {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}{counting}"

    def _lines(self, rows: Sequence[int]) -> list[int]:
        """The lines on which these rows of a text file start."""
        if self.one_line_each:
            return [row + 2 for row in rows]
        assert self.delimiter is not None
        wanted = {row + 1 for row in rows}  # the header is the first record
        starts = {}
        for number, (line, _) in enumerate(records(self.file.read(), self.delimiter)):
            if number in wanted:
                starts[number] = line
        return [starts[row + 1] for row in rows]

    def first_location(self, wrong: Bool) -> str:
        """Where the first row marked in ``wrong`` (rows,) is."""
        return self.location(int(np.argmax(wrong)))

    def require(self, *names: str, remedy: str = "Add the column or correct its name.") -> None:
        """DataError unless the file has all these columns."""
        if len(self.names) == 1 and any(mark in self.names[0] for mark in ";\t"):
            remedy = "Separate the columns by commas, or convert the file with: fairfr import table"
        for name in names:
            if name not in self.names:
                raise DataError(
                    f"{self.path} has no column '{name}'.{did_you_mean(name, self.names)} {remedy}",
                    code="missing-column",
                )

    def text(self, name: str) -> CodedColumn:
        """A column as text; blanks are no values."""
        column = _encode(_as_text(self, name))
        for code, value in enumerate(column.values):
            if len(value) > MAX_CELL or "\0" in value or "\n" in value or "\r" in value:
                raise DataError(
                    f"{self.path}, {self.first_location(column.codes == code)}: '{name}' has a line break, a NUL or "
                    f"more than {MAX_CELL} characters ({value[:20]!r}...). "
                    "Correct it; look for a quote that is not closed.",
                    code="long-cell",
                )
        return column

    def required_text(self, name: str) -> CodedColumn:
        """A text column in which nothing may be blank."""
        column = self.text(name)
        self._refuse_blanks(name, column.codes == UNKNOWN)
        return column

    def required_cells(self, name: str) -> list[str]:
        """The cells of a text column (rows,), without blanks around them; nothing may be blank."""
        column = self.required_text(name)
        return [column.values[code].strip() for code in column.codes.tolist()]

    def numbers(self, name: str) -> F64:
        """A column as floats (rows,); blanks and words are errors, nan and inf are let through."""
        values = _as_numbers(self.arrays[name])
        if values is None:
            row = _first_word(self.arrays[name])
            found = self.arrays[name][row].as_py()
            raise DataError(
                f"{self.path}, {self.location(row)}: '{name}' must be a number, found {found!r}. "
                "Correct it (with a decimal point) or remove the row.",
                code="not-a-number",
            )
        self._refuse_blanks(name, np.asarray(values.is_null()))
        return np.array(values, dtype=np.float64)

    def _refuse_blanks(self, name: str, blank: Bool) -> None:
        if blank.any():
            raise DataError(
                f"{self.path}, {self.first_location(blank)}: '{name}' is blank. Fill it in or remove the row.",
                code="blank-cell",
            )


def read_table(file: DataFile, wanted: Collection[str], delimiter: str = ",") -> TextTable:
    """Those of the ``wanted`` columns that the csv or parquet file has; others are ignored."""
    if file.path.suffix.lower() == ".parquet":
        table = _read_parquet(file, file.read(), wanted)
    else:
        table = _read_csv(file, file.read(), wanted, delimiter)
    if table.n_rows == 0:
        raise DataError(f"{file.path} has a header but no rows. Import or export it again.", code="no-rows")
    return table


def _read_parquet(file: DataFile, data: bytes, wanted: Collection[str]) -> TextTable:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        source = pq.ParquetFile(pa.BufferReader(data))
        names = tuple(source.schema_arrow.names)
        chosen = _choose(file, names, wanted)
        _check_rows(file.path, source.metadata, len(data))
        # repeated text stays one text until it is known how much all of it is
        texts = [name for name in chosen if _is_text(source.schema_arrow.field(name).type)]
        arrow = pq.ParquetFile(pa.BufferReader(data), read_dictionary=texts).read(columns=chosen)
        arrow.validate(full=True)  # reading alone does not see text that is not UTF-8
        _check_texts(file.path, arrow, len(data))
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        found = sniff_format(data) or "text or something else"
        if data.startswith(b"PAR1"):
            found = "damaged or cut short"
        raise DataError(
            f"{file.path} is not a readable parquet file: it is {found} ({error_summary(error)}). "
            "Export it again, or rename it with the correct extension.",
            code="damaged-file",
        ) from None
    return TextTable(file, names, _one_chunk(arrow), source.metadata.num_rows, one_line_each=False)


def _check_rows(path: Path, metadata: Any, size: int) -> None:
    """A value that repeats takes no room in parquet: a file of a kilobyte can claim a billion rows."""
    values = metadata.num_rows
    for k in range(metadata.num_row_groups):
        for c in range(metadata.num_columns):
            values = max(values, metadata.row_group(k).column(c).num_values)
    if values > max(ALLOWED_ROWS, ROWS_PER_BYTE * size):
        raise DataError(
            f"{path}: its {size:,} bytes claim {values:,} rows, more than so few bytes can have different values for. "
            "If that is right, store it as csv.",
            code="too-large",
        )


def _check_texts(path: Path, arrow: Any, size: int) -> None:
    """DataError if text that is stored once, however often it occurs, would take too much room when spelled out."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in arrow.column_names:
        kind = arrow.column(name).type
        if not (pa.types.is_dictionary(kind) and _is_text(kind.value_type)):
            continue
        lengths = (pc.binary_length(chunk.dictionary).take(chunk.indices) for chunk in arrow.column(name).chunks)
        spelled_out = sum(pc.sum(length.cast(pa.int64())).as_py() or 0 for length in lengths)
        if spelled_out > max(ALLOWED_TEXT_BYTES, TEXT_BYTES_PER_BYTE * size):
            raise DataError(
                f"{path}: '{name}' would take {spelled_out:,} bytes, and the file has {size:,}. "
                "Shorten its values, or store the table as csv.",
                code="too-large",
            )


def _is_text(kind: Any) -> bool:
    return str(kind) in ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")


def _read_csv(file: DataFile, data: bytes, wanted: Collection[str], delimiter: str) -> TextTable:
    import pyarrow as pa
    from pyarrow import csv

    check_utf8(file.path, data)
    names = csv_header(file.path, data, delimiter)
    # one column is always read, if only to count the rows
    chosen = _choose(file, names, wanted) or [names[0]]
    complete = data if data.endswith((b"\n", b"\r")) else data + b"\n"
    as_written = csv.ConvertOptions(
        include_columns=chosen, column_types={name: pa.string() for name in chosen}, strings_can_be_null=False
    )
    try:
        arrow = csv.read_csv(
            io.BytesIO(complete),
            parse_options=csv.ParseOptions(newlines_in_values=True, delimiter=delimiter),
            convert_options=as_written,
        )
    except pa.ArrowInvalid as error:
        check_cells(file.path, data, len(names), delimiter)
        raise DataError(
            f"{file.path} is not a readable csv ({error_summary(error)}). Export it again.", code="damaged-file"
        ) from None
    one_line_each = complete.count(b"\n") == arrow.num_rows + 1
    if not one_line_each:  # empty lines or cells of several lines: see that no unclosed quote swallowed rows
        check_cells(file.path, data, len(names), delimiter)
    return TextTable(file, names, _one_chunk(arrow), arrow.num_rows, one_line_each, delimiter)


def _choose(file: DataFile, names: tuple[str, ...], wanted: Collection[str]) -> list[str]:
    for name in wanted:
        if names.count(name) > 1:
            raise DataError(
                f"{file.path} has {names.count(name)} columns called '{name}'. Remove or rename one.",
                code="column-twice",
            )
    return [name for name in names if name in wanted]


def _one_chunk(arrow: Any) -> dict[str, Any]:
    import pyarrow as pa

    arrays = {}
    for name in arrow.column_names:
        column = arrow.column(name)
        if pa.types.is_dictionary(column.type):  # pandas categories; row groups may number them differently
            column = column.cast(column.type.value_type)
        if column.num_chunks:
            arrays[name] = pa.concat_arrays(column.chunks)
        else:
            arrays[name] = pa.array([], column.type)
    return arrays


def _as_text(table: TextTable, name: str) -> Any:
    """An arrow array of strings. Whole numbers are safe to spell out; others have no one spelling."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = table.arrays[name]
    found = array.type
    try:
        if pa.types.is_floating(found):
            # whole numbers with gaps become floats in pandas: 1.0 means 1
            array = pc.if_else(pc.is_nan(array), None, array).cast(pa.int64())
        return array.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DataError(
            f"{table.path}: column '{name}' ({found}) has no exact text. Store it as text.", code="no-exact-text"
        ) from None


def _as_numbers(array: Any) -> Any | None:
    import pyarrow as pa

    try:
        return array.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _first_word(array: Any) -> int:
    """The first cell that is not a number, given that there is one."""
    low = 0
    high = len(array)
    while high - low > 1:
        middle = (low + high) // 2
        if _as_numbers(array.slice(low, middle - low)) is None:
            high = middle
        else:
            low = middle
    return low


def _encode(array: Any) -> CodedColumn:
    encoded = array.dictionary_encode()
    values: list[str] = encoded.dictionary.to_pylist()
    filled = np.array([bool(value.strip()) for value in values], dtype=bool)
    # one more entry at the end, so that index -1 (null) stays -1
    renumbered = np.append(np.where(filled, np.cumsum(filled) - 1, UNKNOWN), UNKNOWN).astype(np.int32)
    codes = renumbered[np.asarray(encoded.indices.fill_null(-1))]
    return CodedColumn(codes, tuple(value for value in values if value.strip()))


SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab"}
MAX_NAMED_ROWS = 5  # rows named in one message


def check_utf8(path: Path, data: bytes) -> None:
    """DataError unless the bytes are UTF-8 text (with or without a byte order mark)."""
    found = sniff_format(data)
    if found is not None:
        raise DataError(
            f"{path} is not a csv: it is {found}. Export it as csv, or rename it with the correct extension.",
            code="foreign-format",
        )
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path}, line {line}: byte 0x{data[error.start]:02x} is not UTF-8 text. Save the file as UTF-8.",
            code="not-utf8",
        ) from None


def read_text(path: Path) -> str:
    """A whole text file, without its byte order mark; DataError unless it is UTF-8."""
    data = DataFile.at(path).read()
    check_utf8(path, data)
    return data.decode("utf-8-sig")


def delimiter_of(file: DataFile) -> str:
    """What separates the cells of a text: the mark that its first line has most of. A comma stands for parquet."""
    if file.path.suffix.lower() == ".parquet":
        return ","
    data = file.read()
    check_utf8(file.path, data)
    lines = io.TextIOWrapper(io.BytesIO(data), "utf-8-sig")
    header = next((line for line in lines if line.strip()), "")
    return max(SEPARATORS, key=header.count)


def records(data: bytes, delimiter: str = ",") -> Iterator[tuple[int, list[str]]]:
    """(line on which it starts, cells) of each record, empty lines skipped."""
    text = io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", newline="")
    reader = csv.reader(text, strict=True, delimiter=delimiter)
    line = 1
    for cells in reader:
        if cells:
            yield line, cells
        line = reader.line_num + 1


def csv_header(path: Path, data: bytes, delimiter: str = ",") -> tuple[str, ...]:
    """The names in the first line that is not empty."""
    try:
        names = next((cells for _, cells in records(data, delimiter)), None)
    except csv.Error as error:
        raise _unreadable(path, 0, error) from None
    if names is None:
        raise DataError(f"{path} has only empty lines. Import or export it again.", code="no-rows")
    return tuple(names)


def check_cells(path: Path, data: bytes, n_columns: int, delimiter: str = ",") -> None:
    """DataError about all records without exactly ``n_columns`` cells, or about a quote that never closes."""
    line = 0
    odd: list[str] = []
    try:
        for line, cells in records(data, delimiter):
            if len(cells) != n_columns:
                odd.append(f"line {line}: {len(cells)} cells where the header has {n_columns}")
    except csv.Error as error:
        raise _unreadable(path, line, error) from None
    if odd:
        which = "the row"
        if len(odd) > 1:
            which = f"these {len(odd):,} rows"
        raise DataError(
            f"{path}, {shorten_list(odd, MAX_NAMED_ROWS, '; ')}. "
            f"Correct {which}; "
            f"put values that contain a {SEPARATORS[delimiter]} in double quotes.",
            code="cells-in-row",
        )


def _unreadable(path: Path, line: int, error: csv.Error) -> DataError:
    return DataError(
        f"{path}: the record that starts after line {line} cannot be read ({error}). "
        "Look for a quote that is not closed.",
        code="open-quote",
    )
