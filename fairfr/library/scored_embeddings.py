"""The images that are scored: vectors with their ids, and what is known about them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fairfr.core.errors import DataError, UnmetNeedError
from fairfr.core.types import F32, F64, I32, Pairs, StrArray
from fairfr.data.embeddings_file import read_vectors
from fairfr.data.files import DataFile
from fairfr.data.images_file import ImageTable, read_images
from fairfr.data.pairs_file import index_of
from fairfr.data.text_table import CodedColumn
from fairfr.library.image_pairs import ImageLabels, ImagePairs, to_verification_set
from fairfr.library.model import Model
from fairfr.library.out_of_distribution import Unlike
from fairfr.pairs.table import PairTable
from fairfr.pairs.vectors import unit_rows


@dataclass(frozen=True, slots=True)
class ScoredEmbeddings:
    """One npz: ids and unit rows (n, d)."""

    path: Path
    ids: tuple[str, ...]
    unit: F32

    @classmethod
    def read(cls, file: DataFile, model: Model) -> ScoredEmbeddings:
        raw = read_vectors(file)
        width = raw.vectors.shape[1]
        if model.width_ not in (None, width):
            raise DataError(
                f"{file.path} has vectors of width {width}, but the model was fitted on width {model.width_}. "
                "A calibrator belongs to the network whose vectors it was fitted on."
            )
        return cls(file.path, raw.images, unit_rows(raw.vectors, np.arange(len(raw.images))))


class Scorer:
    """A model and the images it is to compare, by their rows in ``vectors``.

    ``unlike``: how many images were unlike those of training, in all calls; an image counts in each call that has it.
    """

    def __init__(self, model: Model, vectors: ScoredEmbeddings, images: DataFile | None, threads: int) -> None:
        self.model, self._threads = model, threads
        self.unlike = Unlike(0, 0)
        self._unit = vectors.unit
        n = len(self._unit)
        no_pairs = Pairs(np.empty(0, np.int32), np.empty(0, np.int32))
        faces = ImagePairs(no_pairs, np.arange(n), n, False, self._unit)
        self._labels = _labels(model, faces, vectors.ids, images)

    def __call__(self, left: I32, right: I32) -> tuple[F64, F64]:
        """Score and probability of pairs of rows, (p,) each."""
        n = len(self._unit)
        faces = ImagePairs(Pairs(left, right), np.arange(n), n, False, self._unit)
        data = to_verification_set(faces, self._labels, np.zeros(0, dtype=bool))
        found = self.model.predict_table(PairTable(data, self._threads))
        if self.model.unlike_training_ is not None:
            self.unlike = self.unlike.plus(self.model.unlike_training_)
        return found


def _labels(model: Model, faces: ImagePairs, ids: tuple[str, ...], images: DataFile | None) -> ImageLabels:
    """Groups and people of the images, where the method asks for them; blank for those that the table lacks."""
    needs_people = model.asks_for_people
    if not model.groups_ and not needs_people:
        return ImageLabels.of(faces, {}, None)
    if images is None:
        what = " and ".join([*(f"'{id}'" for id in model.groups_), *(["'identity'"] if needs_people else [])])
        raise UnmetNeedError(
            f"{type(model).__name__} needs {what} of every image: --image-table FILE, a csv or parquet table with the "
            "column 'image' and these."
        )
    table = read_images(images, model.groups_)
    rows = index_of(ids, table.ids)
    groups = {id: _names(table.attributes[id], rows) for id in model.groups_}
    return ImageLabels.of(faces, groups, _names(_people(table), rows) if needs_people else None)


def _people(table: ImageTable) -> CodedColumn:
    return CodedColumn(table.identity, table.people)


def _names(column: CodedColumn, rows: I32) -> StrArray:
    names = np.array([*column.values, ""], dtype=np.str_)
    found: StrArray = names[np.append(column.codes, -1)[rows]]
    return found


def result_columns(model: Model, score: F64, probability: F64, prior: float | None) -> dict[str, F64]:
    """What a file gets for each pair: ``score`` and ``probability``; with a prior its probability, and ``llr``."""
    if prior is None:
        return {"score": score, "probability": probability}
    adjusted = model.probability_at(probability, prior)
    return {"score": score, "probability": adjusted, "llr": model.llr_of(probability)}


def load_model(path: Path, config_dirs: tuple[Path, ...] = ()) -> Model:
    """The fitted model in a file; its class may be one that a yaml of a method in ``config_dirs`` names."""
    from fairfr.library.method_classes import configured_class
    from fairfr.library.model_file import describe, load

    own = None
    if config_dirs:
        own = configured_class(str(describe(path)["method"]), config_dirs)
    return load(path, method=own)
