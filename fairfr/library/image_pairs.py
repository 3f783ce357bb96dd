"""A verification set made of what people hand over."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from fairfr.core.errors import DataError, UnmetNeedError
from fairfr.core.types import (
    F32,
    F64,
    I32,
    I64,
    UNKNOWN,
    Bool,
    EmbeddingSet,
    Grouping,
    Pairs,
    StrArray,
    VerificationSet,
    cross_groupings,
)
from fairfr.data.images_file import resolve_mentions
from fairfr.library import arrays
from fairfr.pairs.vectors import fingerprints, unit_rows

PerImage: TypeAlias = ArrayLike | Sequence[object]
"""(n,) of anything that has a name. By pair: a tuple (left, right) of (p,) each, or (p,) for both images."""

Vectors: TypeAlias = ArrayLike | tuple[ArrayLike, ArrayLike]
"""(n, d), a vector for each image; or those of the left and of the right images of pairs, (p, d) each."""

MAX_LEVELS = 32_000  # group codes are int16
HERE = "the given data"


@dataclass(frozen=True, slots=True)
class ImagePairs:
    """The images that some pairs use: unit ``vectors`` (n, d), or None where only ``cosine`` (p,) is known.

    ``chosen`` (n,) are the places of these images in what was handed over, ``given`` images in all; ``two_sided``:
    row by row, left images first.
    """

    pairs: Pairs
    chosen: I64
    given: int
    two_sided: bool
    vectors: F32 | None = None
    cosine: F64 | None = None

    @classmethod
    def of(cls, embeddings: Any, pairs: Any) -> ImagePairs:
        """From vectors (n, d) and row numbers (p, 2), from (left, right) vectors and None, or from two vectors (d,)."""
        if pairs is None:
            return cls._aligned(embeddings)
        if np.ndim(embeddings) == 1 and np.ndim(pairs) == 1:
            return cls._aligned((arrays.as_numpy(embeddings)[None], arrays.as_numpy(pairs)[None]))
        raw = arrays.check_matrix(embeddings, "embeddings")
        rows = arrays.check_row_numbers(pairs, len(raw))
        chosen, own = Pairs(rows[:, 0], rows[:, 1]).compact(len(raw))
        return cls(own, chosen, len(raw), False, _unit(raw, chosen, "embeddings"))

    @classmethod
    def _aligned(cls, embeddings: Any) -> ImagePairs:
        if not isinstance(embeddings, tuple | list) or len(embeddings) != 2:
            raise DataError("pairs=None goes with embeddings=(left, right), two aligned arrays of shape (p, d).")
        left, right = (arrays.check_matrix(side, f"embeddings[{i}]") for i, side in enumerate(embeddings))
        if left.shape != right.shape:
            raise DataError(f"left and right must have the same shape (p, d), found {left.shape} and {right.shape}.")
        p = len(left)
        every = np.arange(p, dtype=np.int64)
        vectors = np.concatenate([_unit(side, every, f"embeddings[{i}]") for i, side in enumerate((left, right))])
        return cls(_side_by_side(p), np.arange(2 * p), 2 * p, True, vectors)

    @classmethod
    def scored(cls, cosine: Any, score_range: arrays.ScoreRange | None = None) -> ImagePairs:
        """From cosines alone, or from scores on another scale: each pair is two images of its own."""
        found = arrays.check_cosines(cosine, score_range)
        p = len(found)
        return cls(_side_by_side(p), np.arange(2 * p), 2 * p, True, cosine=found)

    def names(self, values: Any, what: str) -> StrArray:
        """The name of each image, (n,); blank where unknown."""
        if self.two_sided:
            sides = values if isinstance(values, tuple) and len(values) == 2 else (values, values)
            return np.concatenate([arrays.check_names(side, self.given // 2, what) for side in sides])
        if isinstance(values, tuple) and len(values) == 2 and np.ndim(values[0]) == 1:
            return self._names_of_pairs(values, what)
        if len(self.pairs) == len(values) != self.given:
            return self._names_of_pairs((values, values), what)
        return arrays.check_names(values, self.given, what)[self.chosen]

    def _names_of_pairs(self, sides: tuple[Any, Any], what: str) -> StrArray:
        """The name of each image, (n,), from those of the left and of the right images of pairs, (p,) each."""
        left, right = (arrays.check_names(side, len(self.pairs), what, "pairs") for side in sides)
        said = np.concatenate([left, right])
        ends = np.concatenate([self.pairs.left, self.pairs.right])
        levels, codes = _coded(said)
        of_image, contradicts = resolve_mentions(len(self.chosen), ends, codes.astype(np.int32))
        if contradicts.any():
            mention = int(np.argmax(contradicts))
            image = ends[mention]
            said_here = f"{str(said[mention])!r} in pairs[{mention % len(self.pairs)}]"
            raise DataError(
                f"{what} calls image {self.chosen[image]} {said_here} and {levels[of_image[image]]!r} in another pair. "
                "Names belong to images: pass one for each image, or (left, right), one for each side of the pairs."
            )
        return np.array([*levels, ""], dtype=np.str_)[of_image]


@dataclass(frozen=True, slots=True)
class ImageLabels:
    """What is known about each image: ``groupings`` by id, and who is on it (``identity`` (n,) indexes ``people``)."""

    groupings: tuple[Grouping, ...]
    identity: I32
    people: tuple[str, ...]

    @classmethod
    def of(cls, faces: ImagePairs, groups: Mapping[str, PerImage], identities: PerImage | None) -> ImageLabels:
        found = tuple(_grouping(id, faces.names(values, f"groups[{id!r}]")) for id, values in groups.items())
        if identities is None:
            return cls(found, np.full(len(faces.chosen), UNKNOWN, dtype=np.int32), ())
        people, codes = _coded(faces.names(identities, "identities"))
        return cls(found, codes.astype(np.int32), people)


def groups_by_id(groups: Any) -> dict[str, PerImage]:
    """What was passed as groups: a mapping, or a data frame with a column for each; DataError for anything else."""
    if groups is None:
        return {}
    if not isinstance(groups, Mapping) and not hasattr(groups, "columns"):
        raise DataError("groups must map an id to the names of the images, such as groups={'gender': names}.")
    return {str(id): names for id, names in groups.items()}


def select_groups(
    groups: Mapping[str, PerImage] | None, wanted: tuple[str, ...] | None, asker: str
) -> dict[str, PerImage]:
    """The groups that a method needs: those it was fitted with, by their ids; when it is fitted, all."""
    given = groups_by_id(groups)
    missing = [id for id in wanted or () if id not in given]
    if missing or (wanted is None and not given):
        id = missing[0] if missing else "gender"
        which = f"the groups {id!r} that it was fitted with" if missing else "groups"
        raise UnmetNeedError(f"{asker} needs {which}: pass groups={{{id!r}: names}}, one name for each image.")
    return given if wanted is None else {id: given[id] for id in wanted}


def to_verification_set(
    faces: ImagePairs, labels: ImageLabels, same: Bool, ids: StrArray | None = None
) -> VerificationSet:
    """All of it as one set without folds; ``ids`` (n,) of the images matter to a fit only, which draws by them."""
    n, p = len(faces.chosen), len(faces.pairs)
    images: StrArray = np.zeros(n, dtype="<U1") if ids is None else ids
    product = cross_groupings(labels.groupings) if labels.groupings else None
    return VerificationSet(
        id=HERE,
        source="files",
        backbone=HERE,
        digest="",
        images=images,
        identity=labels.identity,
        pairs=faces.pairs,
        same=same,
        fold=np.zeros(p, dtype=np.int16),
        fold_labels=("all",),
        groupings={} if product is None else {product.id: product},
        grouping=None if product is None else product.id,
        embeddings=None if faces.vectors is None else EmbeddingSet(HERE, "", images, faces.vectors),
        cosine=faces.cosine,
        people=labels.people,
    )


def ids_from_vectors(faces: ImagePairs) -> StrArray:
    """An id for each image, (n,), from its vector: the order in which images are handed over means nothing."""
    if faces.vectors is not None:
        return fingerprints(faces.vectors)
    return np.array([f"{i:012}" for i in range(len(faces.chosen))])


def merge_duplicates(faces: ImagePairs, labels: ImageLabels, ids: StrArray) -> tuple[ImagePairs, ImageLabels, StrArray]:
    """Row by row, one image comes many times: equal vectors with equal labels become one image; ``ids`` (n,)."""
    if not faces.two_sided or faces.vectors is None:
        return faces, labels, ids
    code = np.unique(ids, return_inverse=True)[1]
    for other in [g.codes.astype(np.int64) for g in labels.groupings] + [labels.identity.astype(np.int64)]:
        wide = other + 1
        code = np.unique(code * (int(wide.max(initial=0)) + 1) + wide, return_inverse=True)[1]
    _, first, place = np.unique(code, return_index=True, return_inverse=True)
    return *one_of_each(faces, labels, first, place), ids[first]


def one_of_each(faces: ImagePairs, labels: ImageLabels, first: I64, place: I64) -> tuple[ImagePairs, ImageLabels]:
    """Fewer images where some are the same: ``first`` (m,) of each stays, and image i becomes number ``place[i]``."""
    left, right = (place[side].astype(np.int32) for side in (faces.pairs.left, faces.pairs.right))
    fewer = replace(faces, pairs=Pairs(left, right), chosen=faces.chosen[first])
    if faces.vectors is not None:
        fewer = replace(fewer, vectors=faces.vectors[first])
    groupings = tuple(Grouping(g.id, g.levels, g.codes[first]) for g in labels.groupings)
    return fewer, ImageLabels(groupings, labels.identity[first], labels.people)


def data_digest(data: VerificationSet) -> str:
    """16 hex digits of what a model was fitted on: vectors (or cosines), pairs and labels."""
    content = hashlib.sha256()
    parts: list[npt.NDArray[Any]] = [data.pairs.left, data.pairs.right, data.same]
    parts += [] if data.cosine is None else [data.cosine]
    parts += [] if data.embeddings is None else [data.embeddings.vectors]
    for part in parts:
        content.update(repr(part.shape).encode())
        content.update(np.ascontiguousarray(part).data)
    return content.hexdigest()[:16]


def _side_by_side(p: int) -> Pairs:
    left = np.arange(p, dtype=np.int32)
    return Pairs(left, left + np.int32(p))


def _unit(raw: npt.NDArray[Any], rows: I64, what: str) -> F32:
    """The rows at length 1, whatever their scale."""
    with np.errstate(invalid="ignore", divide="ignore"):
        unit = unit_rows(raw, rows)
    # a row of zeros, or with one value that is not finite, has no direction: all of it becomes nan
    wrong = np.isnan(unit[:, 0])
    if wrong.any():
        row = int(rows[int(np.argmax(wrong))])
        found = "a value that is not finite (nan or inf)" if raw[row].any() else "only zeros"
        raise DataError(f"{what}[{row}] has {found}: no face gives such a vector. Leave its pairs out.")
    return unit


def unit_vectors(raw: npt.NDArray[Any], what: str) -> F32:
    """All rows at length 1, whatever their scale."""
    return _unit(raw, np.arange(len(raw), dtype=np.int64), what)


def _coded(names: StrArray) -> tuple[tuple[str, ...], I64]:
    """Distinct names, sorted, and the place of each image's name among them, (n,); -1 where it is blank."""
    values, codes = np.unique(names, return_inverse=True)
    known = values != ""
    number = np.where(known, np.cumsum(known) - 1, UNKNOWN)
    return tuple(values[known].tolist()), number[codes]


def _grouping(id: str, names: StrArray) -> Grouping:
    levels, codes = _coded(names)
    if len(levels) > MAX_LEVELS:
        raise DataError(
            f"groups[{id!r}] has {len(levels):,} different names; at most {MAX_LEVELS:,} groups are possible."
        )
    return Grouping(id, levels, codes.astype(np.int16))
