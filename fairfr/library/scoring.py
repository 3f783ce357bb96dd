"""Scores of new pairs, from files to a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairfr.core.errors import ConfigError, DataError, UnmetNeedError
from fairfr.core.storage import ResumableOutput, translate_os_errors
from fairfr.core.threads import limit_threads, resolve_threads
from fairfr.core.types import I32
from fairfr.data.files import DataFile
from fairfr.library.arrays import on_cosine_scale, refused_score_text
from fairfr.library.model import Model
from fairfr.library.pair_sources import PairReader, row_location
from fairfr.library.prior import check_prior
from fairfr.library.scored_embeddings import ScoredEmbeddings, Scorer, load_model, result_columns
from fairfr.pairs.vectors import invalid_cosines

BLOCK = 2**18
"""Pairs at a time: some hundred MB at the most, whatever the method."""
ENDINGS = (".parquet", ".csv")
RESULTS = ("score", "probability", "llr")
"""Columns that are written; those that the pairs file has under these names become ``given_score`` and so on."""


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """What the command line asks for. ``config_dir``: folders whose yaml files name methods beside ours."""

    model: Path
    pairs: Path
    out: Path
    embeddings: Path | None = None
    images: Path | None = None
    threads: int | None = None
    block: int = BLOCK
    prior: float | None = None
    score: str | None = None
    config_dir: tuple[Path, ...] = ()


class Progress:
    """Shows how far the scoring of blocks is; this one shows nothing."""

    def start(self, blocks: int, done: int) -> None:
        """Of about ``blocks`` blocks, ``done`` are there from an earlier call."""

    def block_done(self) -> None:
        """One more."""

    def say(self, text: str) -> None:
        """Something to tell at the end."""


def score_pairs(wanted: ScoreOptions, progress: Progress) -> int:
    """Score and write; returns the number of rows."""
    check_output_path(wanted.out)
    _check(wanted)
    threads = resolve_threads(wanted.threads)
    limit_threads(threads)
    model = load_model(wanted.model, wanted.config_dir)
    files = _files(wanted)
    made_from = {name: file.digest for name, file in files.items()} | _shape(wanted)
    output = ResumableOutput(wanted.out, made_from, discard_others=True)
    with translate_os_errors(wanted.out, "--out"), output.writing() as done:
        work = _pairs(model, files, wanted, threads)
        progress.start(work.n_blocks, done)
        for number, table in enumerate(work.tables(done), start=done):
            _write_part(output, number, table)
            progress.block_done()
        if work.scorer is not None:
            _tell_unlike(work.scorer, progress)
        return _join(output)


def check_output_path(out: Path) -> None:
    """ConfigError for a file that could not be written; checked before anything is computed."""
    if out.suffix not in ENDINGS:
        raise ConfigError(f"--out {out}: scores are written as .parquet or .csv. Give the file one of these endings.")
    if not out.absolute().parent.is_dir():
        raise ConfigError(f"--out {out}: there is no folder {out.absolute().parent}.")


def _write_part(output: ResumableOutput, number: int, table: Any) -> None:
    from pyarrow import parquet

    with output.part(number) as draft:
        parquet.write_table(table, draft)


def _join(output: ResumableOutput) -> int:
    """The number of rows."""
    from pyarrow import csv, parquet

    paths = output.parts()
    schema = parquet.read_schema(paths[0])
    open_writer = parquet.ParquetWriter
    if output.out.suffix == ".csv":
        open_writer = csv.CSVWriter
    rows = 0
    with output.finishing() as draft, open_writer(draft, schema) as writer:
        for path in paths:
            part = parquet.read_table(path)
            writer.write_table(part)
            rows += part.num_rows
    return rows


def _tell_unlike(scorer: Scorer, progress: Progress) -> None:
    """How many images were unlike those of training, where the method can tell."""
    if scorer.unlike.is_too_many:
        progress.say(f"warning: {scorer.unlike.warning(type(scorer.model).__name__)}")
    elif scorer.unlike.images:
        progress.say(scorer.unlike.text())


def _shape(wanted: ScoreOptions) -> dict[str, Any]:
    return {"block": wanted.block, "ending": wanted.out.suffix, "prior": wanted.prior, "score": wanted.score}


def _check(wanted: ScoreOptions) -> None:
    if wanted.block < 1:
        raise ConfigError("--block must be at least 1.")
    if wanted.prior is not None:
        check_prior(wanted.prior)


def _files(wanted: ScoreOptions) -> dict[str, DataFile]:
    names = ("model", "embeddings", "images", "pairs")
    paths = {name: getattr(wanted, name) for name in names}
    return {name: DataFile.at(path) for name, path in paths.items() if path is not None}


class _Pairs:
    """The pairs of a file, with vectors, or with cosines alone (``scorer`` is None)."""

    def __init__(
        self,
        file: DataFile,
        model: Model,
        wanted: ScoreOptions,
        vectors: ScoredEmbeddings | None,
        scorer: Scorer | None,
    ) -> None:
        self._score = wanted.score or "cosine"
        columns: tuple[str, ...] = (self._score,)
        if vectors is not None:
            columns = ("left", "right")
        self._file = PairReader(file, columns, numbers=(self._score,))
        self._model, self._vectors, self.scorer = model, vectors, scorer
        self._block, self._prior = wanted.block, wanted.prior
        self.n_blocks = -(-self._file.count() // wanted.block)

    def tables(self, skip: int) -> Iterator[Any]:
        empty = True
        for number, block in enumerate(self._file.blocks(self._block, skip), start=skip):
            empty = False
            yield self._scored(block, number * self._block)
        if empty and not skip:
            raise DataError(f"{self._file.path} has no pairs.")

    def _scored(self, block: Any, first: int) -> Any:
        if self._vectors is None or self.scorer is None:
            score, probability = self._model.prediction_scores(self._cosines(block, first))
        else:
            left, right = (self._rows(block, side, first) for side in ("left", "right"))
            score, probability = self.scorer(left, right)
        taken = [f"given_{name}" if name in RESULTS else name for name in block.column_names]
        block = block.rename_columns(taken)
        for name, values in result_columns(self._model, score, probability, self._prior).items():
            block = block.append_column(name, [values])
        return block

    def _cosines(self, block: Any, first: int) -> Any:
        given = block[self._score].to_numpy()
        wrong = invalid_cosines(on_cosine_scale(given, self._model.score_range_))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise DataError(
                f"{self._file.path}, {row_location(self._file.path, first + row)}: {self._score} is {given[row]:g}"
                f"{refused_score_text(given[row], self._model.score_range_)}"
            )
        return given

    def _rows(self, block: Any, side: str, first: int) -> I32:
        import pyarrow as pa
        import pyarrow.compute as pc

        assert self._vectors is not None
        found = pc.index_in(block[side], value_set=pa.array(self._vectors.ids, pa.string())).fill_null(-1)
        rows = np.asarray(found.to_numpy(), dtype=np.int32)
        if (rows < 0).any():
            row = int(np.argmax(rows < 0))
            raise DataError(
                f"{self._file.path}, {row_location(self._file.path, first + row)}: {side} image '{block[side][row]}' "
                f"has no vector in {self._vectors.path} (where the first is '{self._vectors.ids[0]}'). "
                "Add its vector or remove the pair; ids must match exactly."
            )
        return rows


def _pairs(model: Model, files: dict[str, DataFile], wanted: ScoreOptions, threads: int) -> _Pairs:
    if "embeddings" in files:
        if wanted.score is not None:
            raise ConfigError("--score is for pairs with scores alone: leave out --embeddings, or --score.")
        vectors = ScoredEmbeddings.read(files["embeddings"], model)
        scorer = Scorer(model, vectors, files.get("images"), threads)
        return _Pairs(files["pairs"], model, wanted, vectors, scorer)
    if model.needs:
        raise UnmetNeedError(
            f"{type(model).__name__} needs {', '.join(sorted(model.needs))}: name the vectors, --embeddings FILE.npz. "
            "Scores alone (a column 'cosine' in the pairs file, or --score COL) are enough for methods such as Platt "
            "and Beta."
        )
    return _Pairs(files["pairs"], model, wanted, None, None)
