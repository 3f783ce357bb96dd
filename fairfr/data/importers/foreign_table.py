"""Tables of pairs in other people's columns: csv files or pickled pandas tables, read as text and then interpreted."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from fairfr.core.errors import DataError
from fairfr.core.findings import Finding
from fairfr.core.types import F64, Bool
from fairfr.core.wording import spaced
from fairfr.data._csv import check_text, header_of
from fairfr.data.files import DataFile
from fairfr.data.importers.imported import recode
from fairfr.data.pairs_file import LABELS
from fairfr.data.pairs_file import read_same as read_labels
from fairfr.data.scores_only import no_cosine
from fairfr.data.tables import CodedColumn, Table, read_table

PICKLES = (".pkl", ".pickle", ".pk")
SAME = {**LABELS, "0.0": False, "1.0": True}  # pandas writes whole numbers with gaps as 1.0


def open_table(path: Path) -> Table:
    """All columns of the file but row numbers."""
    file = DataFile.at(path)
    ending = path.suffix.lower()
    if ending in PICKLES:
        return _bounded(file)
    if ending != ".csv":
        raise DataError(f"{path} ends neither in .csv nor in {', '.join(PICKLES)}. Give it the ending of what it is.")
    data = file.read()
    check_text(path, data)
    wanted = [name for name in header_of(path, data) if not is_row_number(name)]
    return read_table(file, wanted)


def is_row_number(name: str) -> bool:
    """Whether a column of this name is pandas' index rather than data."""
    return name.strip() in ("", "ID", "index", "level_0") or name.startswith("Unnamed:")


def one_of(table: Table, *names: str) -> str:
    """The one of these names that the table uses for a column."""
    there = [name for name in names if name in table.arrays]
    if len(there) > 1:
        raise DataError(f"{table.path} has both '{there[0]}' and '{there[1]}'. Remove one: they mean the same.")
    if not there:
        other = f"It may also be called {' or '.join(names[1:])}." if names[1:] else "Add it or correct its name."
        table.require(names[0], remedy=other)
    return there[0]


def read_same(table: Table) -> Bool:
    """The labels (p,), whether they are numbers, words or truth values."""
    return read_labels(table, one_of(table, "same", "label"), lambda value: SAME.get(value.strip().lower()))


def read_folds(table: Table) -> CodedColumn:
    """The folds (p,), as whole numbers: ``1``, ``"1"`` and ``1.0`` are the same fold."""
    column = table.filled(one_of(table, "fold"))
    for code, value in enumerate(column.values):
        if not re.fullmatch(r"\s*\d{1,9}(\.0*)?\s*", value, re.ASCII):
            raise DataError(
                f"{table.path}, {table.first(column.codes == code)}: fold is {value!r}, but folds are whole numbers. "
                "Correct it."
            )
    return recode(column, lambda value: str(int(float(value))))


def read_scores(table: Table, structure: Collection[str]) -> tuple[dict[str, F64], list[Finding]]:
    """Cosines (p,) by column: every column of numbers that ``structure`` does not name; and notes on the others."""
    scores, notes = {}, []
    for name in table.arrays:
        if name in structure:
            continue
        values, odd = _cosines(table, name)
        if odd:
            text = f"{table.path}: column '{name}' is left out: {odd}."
            notes.append(Finding("column-left-out", "note", text))
        else:
            scores[name] = values
    return scores, notes


def size_notes(table: Table, official: int) -> list[Finding]:
    """Hints that the file was cut short where it cannot be seen: after a whole line, or inside the last cell."""
    notes = []
    if table.n_rows != official:
        text = f"{table.path} has {spaced(table.n_rows)} rows; the released lists have {spaced(official)} pairs."
        notes.append(Finding("unusual-size", "note", text, {"rows": table.n_rows, "released": official}))
    if table.path.suffix.lower() == ".csv" and not table.file.read().endswith((b"\n", b"\r")):
        notes.append(no_line_end(table.path))
    return notes


def no_line_end(path: Path) -> Finding:
    """A text may have been cut inside its last line."""
    return Finding("no-line-end", "note", f"{path}: its last line has no line end. Is the file complete?")


def _cosines(table: Table, name: str) -> tuple[F64, str]:
    """The numbers of a column, and why they are no cosines (blank if they are)."""
    nothing = np.empty(0)
    if not _is_number(table.arrays[name][0].as_py()):
        return nothing, "it does not hold numbers"
    values = table.numbers(name)  # a column that starts with a number must go on with numbers
    wrong = no_cosine(values)
    if wrong.any():
        row = int(np.argmax(wrong))
        return nothing, f"{values[row]:g} in {table.where(row)} is no cosine (-1..1)"
    if np.isin(values, (0, 1)).all():
        return nothing, "it holds 0 and 1 only, as labels do"
    return values, ""


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def _bounded(file: DataFile) -> Table:
    import pandas  # noqa: F401 - before memory is bounded: the library itself takes some

    from fairfr.data.importers._memory import bounded_memory

    try:
        with bounded_memory(file.path.stat().st_size):
            return _from_pickle(file)
    except MemoryError:
        raise DataError(
            f"{file.path} asks for far more memory than a file of its size needs. Export it again."
        ) from None


def _from_pickle(file: DataFile) -> Table:
    import pandas as pd

    from fairfr.data.importers.unpickle.restricted import load_restricted

    with file.open():
        pass  # an empty file or a folder is a DataError
    frame = load_restricted(file.path)
    if not isinstance(frame, pd.DataFrame):
        raise DataError(f"{file.path} holds a {type(frame).__name__}, not a pandas table. Is it another file's name?")
    names = tuple(str(name) for name in frame.columns)
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise DataError(f"{file.path} has several columns called '{min(repeated)}'. Remove or rename one.")
    if frame.empty:
        raise DataError(f"{file.path} has no rows. Export it again.")
    arrays = {
        name: _arrow(file.path, name, frame.iloc[:, k]) for k, name in enumerate(names) if not is_row_number(name)
    }
    return Table(file, names, arrays, len(frame), one_line_each=False)


def _arrow(path: Path, name: str, series: Any) -> Any:
    """A pandas column as one arrow array; cells of several types are spelled out."""
    import pyarrow as pa

    try:
        array = pa.Array.from_pandas(series)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        kinds = {type(cell) for cell in series.dropna()}
        if not all(issubclass(kind, (str, bool, int, float, np.generic)) for kind in kinds):
            raise DataError(f"{path}: column '{name}' holds more than text and numbers. Export it as text.") from None
        array = pa.array([None if cell is None or cell != cell else str(cell) for cell in series], pa.string())
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks != 1 else array.chunk(0)
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    return array
