"""Read the columns of a user's own table, and collect everything that is wrong before stopping."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from fairfr.core.errors import DataError
from fairfr.core.text import plural, shorten_list
from fairfr.core.types import F64, UNKNOWN, Bool
from fairfr.data.files import DataFile
from fairfr.data.importers.bins import read_numbers
from fairfr.data.importers.conversion import refuse_pickled_table
from fairfr.data.importers.imported_set import map_values
from fairfr.data.text_table import CodedColumn, TextTable, delimiter_of, read_table
from fairfr.pairs.vectors import COSINE_TOLERANCE

SAME_WORDS = frozenset({"1", "1.0", "true", "yes", "y", "same", "genuine", "match", "mated"})
DIFFERENT_WORDS = frozenset(
    {"0", "0.0", "-1", "false", "no", "n", "different", "impostor", "imposter", "nonmatch", "non-match", "nonmated"}
)
MAX_NAMED_VALUES = 5  # values of one kind named in a message


def open_own(path: Path) -> TextTable:
    """All columns of a parquet file or of a text with commas, semicolons or tabs between cells."""
    refuse_pickled_table(path)
    file = DataFile.at(path)
    delimiter = delimiter_of(file)
    named = [name for name in read_table(file, (), delimiter).names if name.strip()]
    return read_table(file, named, delimiter)


class OwnColumns:
    """The columns of one file, and what was found to be wrong in them.

    ``names`` has the file's own name of each column. A preset gives columns other names (``take``), and adds columns
    that it makes from those of the file (``put``); messages call them as the file does.
    """

    def __init__(self, table: TextTable) -> None:
        self.table = table
        self.names = {name.strip(): name for name in table.names}
        self._read: dict[str, CodedColumn] = {}
        self._problems: dict[str, str] = {}  # text -> code
        self._missing: list[str] = []

    def has(self, name: str) -> bool:
        return name in self.names

    def called(self, name: str) -> str:
        """What the file calls this column."""
        return self.names[name].strip()

    def take(self, name: str, source: str) -> None:
        """Let ``name`` be the file's column ``source``."""
        self.names[name] = source

    def put(self, name: str, column: CodedColumn, source: str) -> None:
        """Add a ``column`` that was made from ``source``."""
        self._read[name] = column
        self.names[name] = source

    def meanings(self, name: str, meaning: Callable[[str], str], complaint: str) -> CodedColumn:
        """A column with each value replaced by its ``meaning``; a value without one is a problem, a blank is not."""
        column = self.text(name, "")
        assert column is not None
        found = map_values(column, meaning)
        odd = (found.codes == UNKNOWN) & (column.codes != UNKNOWN)
        if odd.any():
            value = column.values[column.codes[np.argmax(odd)]]
            self._rows_with("unknown-value", odd, f"'{self.called(name)}' is {value!r}, {complaint}")
        return found

    def problem(self, code: str, text: str, rows: Sequence[int] = ()) -> None:
        """Something to correct, in these rows (none: in the file as a whole); ``code`` as of a DataError."""
        if len(rows):
            text = f"{self.table.places(rows)}: {text}"
        self._problems[text] = code

    def text(self, name: str, option: str) -> CodedColumn | None:
        """A column as text without blanks around its values; None where the file does not have it.

        ``option`` is how the command line names it.
        """
        if name not in self.names:
            self._miss(name, option)
            return None
        if name not in self._read:
            self._read[name] = map_values(self.table.text(self.names[name]), str.strip)
        return self._read[name]

    def required_text(self, name: str, option: str) -> CodedColumn | None:
        """A column in which nothing may be blank."""
        column = self.text(name, option)
        if column is not None:
            self._rows_with(
                "blank-cell", column.codes == UNKNOWN, f"'{self.called(name)}' is blank. Fill it in or remove the row."
            )
        return column

    def image_ids(self, name: str, option: str) -> CodedColumn | None:
        """A column of images, none blank: the same path with slashes and with backslashes is one image."""
        column = self.required_text(name, option)
        if column is None:
            return None
        return map_values(column, lambda value: value.replace("\\", "/"))

    def labels(self, name: str, meant: str | None) -> Bool | None:
        """Whether each row is of one person; ``meant`` is the value that says so (None: one of the usual words)."""
        column = self.required_text(name, "--same")
        if column is None:
            return None
        words = [value.casefold() for value in column.values]
        wanted = SAME_WORDS if meant is None else {meant.strip().casefold()}
        two_values = meant is not None and len(set(words)) == 2
        unclear = [
            code
            for code, word in enumerate(words)
            if word not in wanted and word not in DIFFERENT_WORDS and not two_values
        ]
        if not wanted.intersection(words):
            values = shorten_list(column.values, MAX_NAMED_VALUES)
            self.problem(
                "wrong-label",
                f"no row of '{self.called(name)}' says that a pair is of one person. Its values are: {values}. {_SAY}",
            )
        else:
            self._unclear_labels(name, column, unclear)
        same = np.array([*(word in wanted for word in words), False])  # the last is that of a blank
        return same[column.codes]

    def scores(self, name: str, option: str, bounds: tuple[float, float]) -> F64 | None:
        """A column of numbers within ``bounds``."""
        if not self.has(name):
            self._miss(name, option)
            return None
        value = self._numbers(name)
        low, high = bounds
        room = COSINE_TOLERANCE * (high - low)
        outside = (value < low - room) | (value > high + room)
        if outside.any():
            found = f"'{name}' is {value[np.argmax(outside)]:g}, outside {low:g} to {high:g}"
            spread = f"it goes from {np.nanmin(value):g} to {np.nanmax(value):g}"
            self._rows_with("not-a-cosine", outside, f"{found} ({spread}). Give its range: --score-range LOW HIGH.")
        return np.clip(value, low, high)

    def _numbers(self, name: str) -> F64:
        """A column as floats, nan where that is a problem."""
        value, blank = read_numbers(self.table, self.names[name])
        self._rows_with("blank-cell", blank, f"'{name}' is blank. Fill it in or remove the row.")
        unreadable = np.isnan(value) & ~blank
        if unreadable.any():
            column = self.text(name, "")
            assert column is not None
            found = column.values[int(column.codes[np.argmax(unreadable)])]
            self._rows_with("not-a-number", unreadable, f"'{name}' must be a number, found {found!r}.")
        return value

    def each_once(self, name: str, option: str) -> CodedColumn | None:
        """A column of images: none blank, none twice."""
        column = self.image_ids(name, option)
        if column is None:
            return None
        times = np.bincount(column.codes[column.codes != UNKNOWN], minlength=len(column.values))
        repeated = np.flatnonzero(times > 1)
        for code in repeated[:MAX_NAMED_VALUES]:
            text = f"'{column.values[code]}' is there {times[code]} times. Keep one row for each image."
            self._rows_with("repeated-image", column.codes == code, text)
        if len(repeated) > MAX_NAMED_VALUES:
            self.problem(
                "repeated-image", f"{plural(len(repeated) - MAX_NAMED_VALUES, 'other image')} are there several times."
            )
        return column

    def complaint(self) -> str:
        """All problems as one text, given that there are some."""
        problems = list(self._problems)
        if self._missing:
            problems.insert(0, f"{'; '.join(self._missing)}. Its columns: {', '.join(self.names)}.")
        if len(problems) == 1:
            return f"{self.table.path}: {problems[0]}"
        return "\n  ".join([f"{self.table.path} has {len(problems)} problems:", *problems])

    def codes(self) -> set[str]:
        """The kinds of all problems."""
        found = set(self._problems.values())
        if self._missing:
            found.add("missing-column")
        return found

    def _miss(self, name: str, option: str) -> None:
        close = difflib.get_close_matches(name, self.names, n=1)
        hint = f"; did you mean '{close[0]}'?" if close else ""
        self._missing.append(f"no column '{name}' ({option}{hint})")

    def _rows_with(self, code: str, wrong: Bool, text: str) -> None:
        if wrong.any():
            self.problem(code, text, np.flatnonzero(wrong).tolist())

    def _unclear_labels(self, name: str, column: CodedColumn, unclear: Sequence[int]) -> None:
        for code in unclear[:MAX_NAMED_VALUES]:
            self._rows_with(
                "wrong-label", column.codes == code, f"'{self.called(name)}' is {column.values[code]!r}. {_SAY}"
            )
        if len(unclear) > MAX_NAMED_VALUES:
            others = plural(len(unclear) - MAX_NAMED_VALUES, "other value")
            self.problem("wrong-label", f"'{self.called(name)}' has {others} that are no labels either.")


_SAY = "Use 1/0, yes/no or genuine/impostor, or name the value of pairs of one person: --same COL=VALUE."


def refuse_problems(*files: OwnColumns | None) -> None:
    """DataError that tells all problems of all files, if there are any."""
    told = []
    codes: set[str] = set()
    for file in files:
        if file is not None and file.codes():
            told.append(file.complaint())
            codes |= file.codes()
    if told:
        code = codes.pop() if len(codes) == 1 else "several-problems"
        raise DataError("\n".join([*told, "Nothing was written."]), code=code)
