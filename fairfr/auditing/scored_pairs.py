"""Pairs of a file with what a saved model says of them: from vectors, from scores, or as calibrate score wrote it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fairfr.auditing.pair_columns import ColumnNames, read_columns
from fairfr.auditing.sample import Coded, Columns, Grouping
from fairfr.core.errors import ConfigError, DataError, UnmetNeedError
from fairfr.core.threads import limit_threads, resolve_threads
from fairfr.core.types import F64, I32, UNKNOWN
from fairfr.data.files import DataFile
from fairfr.data.images_file import read_images
from fairfr.data.pairs_file import index_of
from fairfr.data.text_table import CodedColumn, delimiter_of, read_table
from fairfr.library.arrays import on_cosine_scale, refused_score_text
from fairfr.library.model import Model
from fairfr.library.scored_embeddings import ScoredEmbeddings, Scorer
from fairfr.library.scoring import BLOCK
from fairfr.pairs.vectors import invalid_cosines

SIDES = ("left", "right")


@dataclass(frozen=True, slots=True)
class PairFiles:
    """The pairs, the vectors of their images, and a table of what is known about the images."""

    pairs: Path
    embeddings: Path | None = None
    images: Path | None = None


@dataclass(frozen=True, slots=True)
class ScoredPairs:
    """``columns``: their score is the model's probability. ``unlike``: what it says of images unlike its training's."""

    columns: Columns
    file: DataFile
    unlike: str | None = None


def read_scored(model: Model, files: PairFiles, names: ColumnNames) -> ScoredPairs:
    """Read pairs, and let a model say how probable each is of one person.

    Parameters
    ----------
    model : Model
        Loaded from its file.
    files : PairFiles
        With embeddings, the pairs file names images in its columns left and right.
    names : ColumnNames
        A column of probabilities, if one is named, counts as what the model said.

    Returns
    -------
    ScoredPairs
        Not yet checked.
    """
    if names.probability is not None:
        columns, file = read_columns(files.pairs, replace(names, needs_score=False))
        return ScoredPairs(columns, file)
    if files.embeddings is not None:
        return _from_vectors(model, files, names)
    if files.images is not None:
        raise ConfigError("--image-table goes with --embeddings: it describes the images whose vectors are compared.")
    if model.needs:
        raise UnmetNeedError(
            f"{type(model).__name__} needs {', '.join(sorted(model.needs))}: name the vectors, --embeddings FILE.npz; "
            "or the column of the probabilities that fairfr calibrate score wrote, --probability COL."
        )
    return _from_scores(model, files.pairs, names)


def _from_scores(model: Model, path: Path, names: ColumnNames) -> ScoredPairs:
    columns, file = read_columns(path, names)
    if columns.is_distance:
        raise ConfigError(f"{path} has distances, but a model takes scores. Name their column with --score COL.")
    score = columns.score
    wrong = np.flatnonzero(invalid_cosines(on_cosine_scale(score, model.score_range_)))
    if len(wrong):
        first = int(wrong[0])
        refused = refused_score_text(score[first], model.score_range_)
        raise DataError(f"{path}, {columns.place([first])}: the score is {score[first]:g}{refused}")
    probability = model.prediction_scores(score)[1]
    return ScoredPairs(replace(columns, score=probability, probability=probability), file)


def _from_vectors(model: Model, files: PairFiles, names: ColumnNames) -> ScoredPairs:
    assert files.embeddings is not None
    file = DataFile.at(files.pairs)
    known = {name.strip() for name in read_table(file, (), delimiter_of(file)).names}
    of_images = tuple(name for name in names.groups if not _is_in(name, known))
    if files.images is None:
        of_images = ()
    in_pairs = tuple(name for name in names.groups if name not in of_images)
    wanted = replace(names, groups=in_pairs, images=SIDES, needs_score=False)
    columns, file = read_columns(files.pairs, wanted)
    vectors = ScoredEmbeddings.read(DataFile.at(files.embeddings), model)
    assert columns.images is not None
    rows = [_rows_of(columns, side, vectors) for side in (0, 1)]
    images = None
    if files.images is not None:
        images = DataFile.at(files.images)
        columns = _described(columns, images, of_images)
    threads = resolve_threads(None)
    limit_threads(threads)
    scorer = Scorer(model, vectors, images, threads)
    probability = _scored(scorer, *rows)
    unlike = None
    if scorer.unlike.is_too_many:
        unlike = scorer.unlike.warning(type(model).__name__)
    return ScoredPairs(replace(columns, score=probability, probability=probability), file, unlike)


def _is_in(name: str, columns: set[str]) -> bool:
    return name in columns or f"left_{name}" in columns


def _scored(scorer: Scorer, left: I32, right: I32) -> F64:
    """Probabilities (p,), a block at a time: memory does not grow with what a method needs for a pair."""
    probability = np.empty(len(left))
    for start in range(0, len(left), BLOCK):
        block = slice(start, start + BLOCK)
        probability[block] = scorer(left[block], right[block])[1]
    return probability


def _rows_of(columns: Columns, side: int, vectors: ScoredEmbeddings) -> I32:
    """The row of each pair's left (0) or right (1) image among the vectors."""
    assert columns.images is not None
    column = columns.images[side]
    rows = _rows_among(column, vectors.ids)
    missing = np.flatnonzero(rows == UNKNOWN)
    if len(missing):
        first = int(missing[0])
        image = "" if column.codes[first] == UNKNOWN else column.levels[column.codes[first]]
        raise DataError(
            f"{columns.place([first])}: {SIDES[side]} image '{image}' has no vector in {vectors.path} (where the "
            f"first is '{vectors.ids[0]}'). Add its vector or remove the pair; ids must match exactly."
        )
    return rows


def _rows_among(column: Coded, ids: Sequence[str]) -> I32:
    """Where among ``ids`` each image of a column is; UNKNOWN if it is not there."""
    row_of_image = np.append(index_of(column.levels, ids), UNKNOWN).astype(np.int32)
    return row_of_image[column.codes]


def _described(columns: Columns, images: DataFile, groups: tuple[str, ...]) -> Columns:
    """With groups of the images' table, and with its people where the pairs name none."""
    table = read_images(images, groups)
    assert columns.images is not None
    rows = [_rows_among(column, table.ids) for column in columns.images]
    groupings = []
    for name in groups:
        left, right = (_of_rows(table.attributes[name], side) for side in rows)
        groupings.append(Grouping.of(name, left, right))
    identity = columns.identity
    if identity is None and table.people:
        people = CodedColumn(table.identity, table.people)
        identity = (_of_rows(people, rows[0]), _of_rows(people, rows[1]))
    return replace(columns, groupings=(*columns.groupings, *groupings), identity=identity)


def _of_rows(column: CodedColumn, rows: I32) -> Coded:
    codes = np.append(column.codes, UNKNOWN).astype(np.int32)
    return Coded(codes[rows], tuple(column.values))
