"""Pairs from a file of any length, block by block: what is in memory does not grow with the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fairfr.core.errors import DataError, did_you_mean
from fairfr.data.files import DataFile, sniff_format
from fairfr.data.text_table import csv_header

BYTES = 2**22  # of csv at a time
START = 2**16


class PairReader:
    """A csv or parquet file whose ``columns`` are read as text (``numbers``: as numbers), and all others as they are.

    Nested columns are left out: csv cannot have them.
    """

    def __init__(self, file: DataFile, columns: Sequence[str], numbers: Sequence[str] = ()) -> None:
        self.path = file.path
        self._needed = tuple(columns)
        self._numbers = frozenset(numbers)
        with self.path.open("rb") as handle:
            start = handle.read(START)
        if not start:
            raise DataError(f"{self.path} is empty (0 bytes). Export it again.")
        self._is_parquet = sniff_format(start) == "a parquet file"
        if not self._is_parquet and sniff_format(start) is not None:
            raise DataError(f"{self.path} is {sniff_format(start)}, but pairs come as csv or parquet.")
        if self._is_parquet:
            self._names = tuple(self._parquet().schema_arrow.names)
        else:
            self._names = csv_header(self.path, start)
        for name in self._needed:
            if name not in self._names:
                raise DataError(f"{self.path} has no column '{name}'.{did_you_mean(name, self._names)}")
        twice = [name for name in self._names if self._names.count(name) > 1]
        if twice:
            raise DataError(f"{self.path} has {len(twice)} columns called '{twice[0]}'. Remove or rename one.")

    def count(self) -> int:
        """About how many pairs there are, for a progress bar: exact unless a csv has empty or folded lines."""
        if self._is_parquet:
            return int(self._parquet().metadata.num_rows)
        with self.path.open("rb") as handle:
            return max(sum(chunk.count(b"\n") for chunk in iter(lambda: handle.read(BYTES), b"")) - 1, 0)

    def blocks(self, rows: int, skip: int = 0) -> Iterator[Any]:
        """Arrow tables of exactly ``rows`` rows, the last one of what is left; the first ``skip`` are left out."""
        import pyarrow as pa

        waiting, n_waiting, number = [], 0, 0
        for batch in self._batches(rows):
            waiting.append(batch)
            n_waiting += batch.num_rows
            while n_waiting >= rows:
                together = pa.Table.from_batches(waiting)
                if number >= skip:
                    yield together.slice(0, rows).combine_chunks()
                number += 1
                waiting, n_waiting = together.slice(rows).to_batches(), n_waiting - rows
        if n_waiting and number >= skip:
            yield pa.Table.from_batches(waiting).combine_chunks()

    def _batches(self, rows: int) -> Iterator[Any]:
        import pyarrow as pa

        try:
            if self._is_parquet:
                schema = pa.schema(list(self._types().items()))
                for batch in self._parquet().iter_batches(rows, columns=schema.names):
                    yield from pa.Table.from_batches([batch]).select(schema.names).cast(schema).to_batches()
            else:
                yield from self._open_csv()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
            raise DataError(
                f"{self.path} cannot be read as pairs ({_reason(error)}). Correct the row, or export it again."
            ) from None

    def _open_csv(self) -> Any:
        from pyarrow import csv

        return csv.open_csv(
            self.path,
            read_options=csv.ReadOptions(block_size=BYTES),
            parse_options=csv.ParseOptions(newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                include_columns=list(self._names), column_types=self._types(), strings_can_be_null=False
            ),
        )

    def _types(self) -> dict[str, Any]:
        """The type of each column that is read, those that are needed first."""
        import pyarrow as pa

        types = {name: pa.string() for name in self._needed}
        types |= {name: pa.float64() for name in self._needed if name in self._numbers}
        stored = None
        if self._is_parquet:
            stored = self._parquet().schema_arrow
        for name in self._names:
            if name in types:
                continue
            kind = pa.string()
            if stored is not None:
                kind = stored.field(name).type
            if pa.types.is_dictionary(kind):
                kind = kind.value_type
            if not pa.types.is_nested(kind):
                types[name] = kind
        return types

    def _parquet(self) -> Any:
        import pyarrow as pa
        from pyarrow import parquet

        try:
            return parquet.ParquetFile(self.path)
        except pa.ArrowInvalid as error:
            raise DataError(
                f"{self.path} is not a readable parquet file ({_reason(error)}). Export it again."
            ) from None


def row_location(path: Path, pair: int) -> str:
    """How to find a pair (0-based): csv has a header, and people count from 1."""
    return f"line {pair + 2}" if path.suffix == ".csv" else f"row {pair} (counting from 0)"


def _reason(error: Exception) -> str:
    return (str(error).splitlines() or ["unknown reason"])[0][:200]
