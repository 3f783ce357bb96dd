"""An output that grows part by part and survives interruptions.

Parts lie in a hidden folder beside the output, each whole or not there, with a note of what they were made from. The
same command again continues after the last part; another one starts again. At the end they become one file, which takes
its name only when it is complete.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fairfr.core.errors import ConfigError, StorageError
from fairfr.core.storage import move_into_place, replace_text, replacing, storing

ENDINGS = (".parquet", ".csv")
NOTE = "made_from.json"


class Parts:
    """The parts of one output file."""

    def __init__(self, out: Path, made_from: Mapping[str, Any]) -> None:
        self.out, self._made_from = out, dict(made_from)
        self._folder = out.with_name(f".{out.name}.partial")

    @contextmanager
    def writing(self) -> Iterator[int]:
        """Alone with the folder; the number of parts that are there already."""
        from filelock import FileLock, Timeout

        with storing(self.out):
            self._folder.mkdir(exist_ok=True)
            lock = FileLock(self._folder / "lock")
            try:
                lock.acquire(timeout=0)
            except Timeout:
                raise StorageError(
                    f"another process is writing {self.out}. Wait for it, or name another file."
                ) from None
            try:
                yield self._found()
            finally:
                lock.release()

    def _found(self) -> int:
        note = self._folder / NOTE
        if not note.is_file() or json.loads(note.read_text(encoding="utf-8") or "null") != self._made_from:
            for path in self._folder.glob("part-*"):
                path.unlink()
            replace_text(note, json.dumps(self._made_from))
        n = 0
        while self._part(n).is_file():
            n += 1
        return n

    def write(self, number: int, table: Any) -> None:
        """One part, an arrow table; a kill leaves it whole or not there."""
        from pyarrow import parquet

        with replacing(self._part(number)) as draft:
            parquet.write_table(table, draft)

    def finish(self) -> int:
        """Join the parts into the output and remove them; returns the number of rows."""
        from pyarrow import parquet

        paths = [path for path in sorted(self._folder.glob("part-*"))]
        whole = self._folder / "whole"
        schema = parquet.read_schema(paths[0])
        rows = 0
        with _writer(whole, schema, self.out.suffix) as writer:
            for path in paths:
                part = parquet.read_table(path)
                writer.write_table(part)
                rows += part.num_rows
        move_into_place(whole, self.out)
        shutil.rmtree(self._folder, ignore_errors=True)
        return rows

    def _part(self, number: int) -> Path:
        return self._folder / f"part-{number:08}"


def check_ending(out: Path) -> None:
    """ConfigError for a file that could not be written; checked before anything is computed."""
    if out.suffix not in ENDINGS:
        raise ConfigError(f"--out {out}: scores are written as .parquet or .csv. Give the file one of these endings.")
    if not out.absolute().parent.is_dir():
        raise ConfigError(f"--out {out}: there is no folder {out.absolute().parent}.")


def _writer(path: Path, schema: Any, ending: str) -> Any:
    from pyarrow import csv, parquet

    return csv.CSVWriter(path, schema) if ending == ".csv" else parquet.ParquetWriter(path, schema)
