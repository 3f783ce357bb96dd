"""The verification set of what ``fairfr.compare`` is handed, and its folds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfr.core import names
from fairfr.core.errors import ConfigError, DataError
from fairfr.core.findings import Finding
from fairfr.core.text import plural
from fairfr.core.types import (
    I16,
    UNKNOWN,
    Bool,
    EmbeddingSet,
    FoldSplit,
    Grouping,
    StrArray,
    VerificationSet,
    cross_groupings,
)
from fairfr.data.validation import group_findings
from fairfr.folds.disjoint import IdentityDisjoint
from fairfr.folds.published import LeaveOneFoldOut
from fairfr.library import arrays
from fairfr.library.image_pairs import (
    ImageLabels,
    ImagePairs,
    PerImage,
    data_digest,
    groups_by_id,
    ids_from_vectors,
    merge_duplicates,
    one_of_each,
)
from fairfr.pairs.overlap import folds_per_value

MAX_FOLDS = 32_000  # fold numbers are int16
MIN_PAIRS = 20
"""A group with fewer pairs in a fold has no numbers there, as in a run by default."""


@dataclass(frozen=True, slots=True)
class GivenArrays:
    """What ``fairfr.compare`` is handed, as it is handed."""

    embeddings: Any
    pairs: ArrayLike | None
    same: ArrayLike | None
    cosine: ArrayLike | None
    groups: Mapping[str, PerImage] | None
    identities: PerImage | None
    images: PerImage | None
    dataset: str
    backbone: str

    def verification_set(self) -> VerificationSet:
        """All of it as one set without folds; DataError for what contradicts itself."""
        faces = self._faces()
        labels = ImageLabels.of(faces, self._checked_groups(), self.identities)
        if self.images is None:
            faces, labels, ids = merge_duplicates(faces, labels, ids_from_vectors(faces))
        else:
            faces, labels, ids = _with_ids(faces, labels, faces.names(self.images, "images"))
        embeddings = None
        if faces.vectors is not None:
            embeddings = EmbeddingSet(self.backbone, "", ids, faces.vectors)
        groupings = _groupings(labels)
        grouping = list(groupings)[-1] if groupings else None
        data = VerificationSet(
            id=self.dataset,
            source="files",
            backbone=self.backbone,
            digest="",
            images=ids,
            identity=labels.identity,
            pairs=faces.pairs,
            same=arrays.check_labels(self.same, len(faces.pairs)),
            fold=np.zeros(len(faces.pairs), dtype=np.int16),
            fold_labels=(names.ALL,),
            groupings=groupings,
            grouping=grouping,
            embeddings=embeddings,
            cosine=faces.cosine,
            people=labels.people,
        )
        thin = group_findings(data.pairs, data.same, groupings.values(), MIN_PAIRS)
        return replace(data, digest=data_digest(data), warnings=tuple(thin))

    def _faces(self) -> ImagePairs:
        if self.same is None:
            raise DataError(
                "compare takes methods, embeddings, pairs and same; or methods, cosine=cosine and same=same."
            )
        if (self.embeddings is None) == (self.cosine is None):
            raise DataError("Pass either embeddings with pairs, or cosine=cosine.")
        if self.cosine is None:
            return ImagePairs.of(self.embeddings, self.pairs)
        if self.pairs is not None:
            raise DataError(
                "cosine=cosine has one value for each pair and goes without pairs. Name the two images of each pair by "
                "images=(left, right)."
            )
        return ImagePairs.scored(self.cosine)

    def _checked_groups(self) -> dict[str, PerImage]:
        given = groups_by_id(self.groups)
        for id in given:
            if id in names.ATTRIBUTES:
                raise DataError(f"groups[{id!r}]: results have a '{id}' of their own. Use another id.")
        return given


def _groupings(labels: ImageLabels) -> dict[str, Grouping]:
    """Each of them by its id and, last, their product."""
    if not labels.groupings:
        return {}
    product = cross_groupings(labels.groupings)
    for grouping in (*labels.groupings, product):
        _check_levels(grouping)
    found = {grouping.id: grouping for grouping in labels.groupings if grouping.id != product.id}
    return {**found, product.id: product}


def _check_levels(grouping: Grouping) -> None:
    if not grouping.levels:
        raise DataError(f"groups[{grouping.id!r}]: no image has a known group. Leave it out, or name those known.")
    if len(set(grouping.levels)) < len(grouping.levels):
        raise DataError(f"two different groups of {grouping.id} would have one name. Rename one.")
    for level in grouping.levels:
        if level in names.GROUPS or "|" in level:
            raise DataError(f"a group of {grouping.id} is called {level!r}, which has another meaning. Rename it.")


def _with_ids(faces: ImagePairs, labels: ImageLabels, ids: StrArray) -> tuple[ImagePairs, ImageLabels, StrArray]:
    """Images by their ids (n,): row by row, an image that comes several times becomes one."""
    if (ids == "").any():
        raise DataError("images has a blank or missing id. Give each image its own.")
    distinct, first, place = np.unique(ids, return_index=True, return_inverse=True)
    if len(distinct) == len(ids):
        return faces, labels, ids
    again = int(np.flatnonzero(first[place] != np.arange(len(ids)))[0])
    if not faces.two_sided:
        rows = faces.chosen[[first[place[again]], again]].tolist()
        raise DataError(f"images[{rows[0]}] and images[{rows[1]}] are both {str(ids[again])!r}. Ids must differ.")
    of_image: list[tuple[str, Any]] = [("identities", labels.identity)]
    of_image += [(f"groups[{grouping.id!r}]", grouping.codes) for grouping in labels.groupings]
    if faces.vectors is not None:
        of_image.append(("embeddings", faces.vectors))
    for what, values in of_image:
        differs = values != values[first[place]]
        if differs.any():
            image = int(np.argmax(differs.reshape(len(ids), -1).any(axis=1)))
            raise DataError(f"{what} differs between mentions of image {str(ids[image])!r}. An id means one image.")
    return *one_of_each(faces, labels, first, place), distinct


@dataclass(frozen=True, slots=True)
class Folds:
    """A set with its folds, the splits that follow, and the name of the protocol."""

    data: VerificationSet
    splits: list[FoldSplit]
    protocol: str

    @property
    def digest(self) -> str:
        """Of which pairs are held out together."""
        content = hashlib.sha256()
        for split in self.splits:
            content.update(split.id.encode() + split.test.tobytes())
        return content.hexdigest()[:16]


def with_folds(data: VerificationSet, folds: int | ArrayLike) -> Folds:
    """As many new folds without common people, or those of ``folds`` (p,), a label for each pair.

    Where people are unknown, new folds are of pairs, and a finding says so.
    """
    if np.ndim(folds) > 0:
        data = _labelled(data, folds)
        found = Folds(data, list(LeaveOneFoldOut().split(data)), "given")
    else:
        found = _new_folds(data, _checked_count(folds))
    for split in found.splits:
        _check_training(data.same[split.train_rows()], split.id)
    return found


def _checked_count(folds: Any) -> int:
    if isinstance(folds, bool) or not isinstance(folds, int | np.integer) or folds < 2:
        raise ConfigError(f"folds={folds!r}: a number from 2 on, or a label for each pair.")
    return int(folds)


def _new_folds(data: VerificationSet, count: int) -> Folds:
    if np.all(data.identity == UNKNOWN):
        data = _folds_of_pairs(data, count)
        return Folds(data, list(LeaveOneFoldOut().split(data)), "pairs")
    try:
        splits = list(IdentityDisjoint(count).split(data))
    except ConfigError as error:
        raise ConfigError(str(error.args[0]).replace("protocol.splitter.folds", "folds")) from None
    return Folds(data, splits, "identity_disjoint")


def _folds_of_pairs(data: VerificationSet, count: int) -> VerificationSet:
    """Random folds with the same share of genuine pairs."""
    from sklearn.model_selection import StratifiedKFold

    fewest = int(min(np.count_nonzero(data.same), np.count_nonzero(~data.same)))
    if fewest < count:
        raise ConfigError(f"folds={count}, but there are only {fewest} pairs of one kind. Ask for fewer folds.")
    fold = np.zeros(data.n_pairs, dtype=np.int16)
    parts = StratifiedKFold(count, shuffle=True, random_state=0).split(data.same, data.same)
    for code, (_, tested) in enumerate(parts):
        fold[tested] = code
    text = (
        "identities are not given, so people are unknown and folds are of pairs: methods may be tested on people and "
        "images that they were fitted on, which makes numbers too good."
    )
    labels = tuple(str(code) for code in range(count))
    return _noting(replace(data, fold=fold, fold_labels=labels), Finding("people-unknown", "note", text))


def _labelled(data: VerificationSet, folds: Any) -> VerificationSet:
    """The folds that are given."""
    label = arrays.check_names(folds, data.n_pairs, "folds", "pairs")
    if (label == "").any():
        raise DataError(f"folds[{int(np.argmax(label == ''))}] is missing. Each pair needs the label of its fold.")
    present, fold = np.unique(label, return_inverse=True)
    if len(present) < 2 or len(present) > MAX_FOLDS:
        raise DataError(f"folds has {plural(len(present), 'different label')}: from 2 to {MAX_FOLDS:,} are possible.")
    if names.POOLED in present:
        raise DataError(f"a fold is called '{names.POOLED}', which is kept for all folds together. Rename it.")
    order = _as_numbers(present)
    place = np.empty(len(order), dtype=np.int16)
    place[order] = np.arange(len(order))
    codes: I16 = place[fold]
    data = replace(data, fold=codes, fold_labels=tuple(present[order].tolist()))
    of_people = folds_per_value(data.identity[data.pairs.left], data.identity[data.pairs.right], codes)
    shared = int(np.count_nonzero(of_people > 1))
    if not shared:
        return data
    text = (
        f"{shared:,} of {len(of_people):,} identities are in more than one fold: methods are tested on people that "
        "they were fitted on. folds=10 makes folds without common people."
    )
    return _noting(data, Finding("identities-between-folds", "warning", text, {"identities": shared}))


def _as_numbers(labels: StrArray) -> Any:
    """The order of the folds: by number if all are whole numbers, else by name."""
    try:
        return np.argsort([int(label) for label in labels], kind="stable")
    except ValueError:
        return np.arange(len(labels))


def _check_training(same: Bool, fold: str) -> None:
    if same.any() and not same.all():
        return
    if not len(same):
        raise DataError(
            f"folds: no pairs are left to fit on for fold {fold}, as each shares a person with it: the people are too "
            "interlinked for folds without common people. Deal people out, and keep pairs of people of one part: "
            "part = numpy.unique(identities, return_inverse=True)[1] % 5; "
            "kept = part[pairs[:, 0]] == part[pairs[:, 1]]; "
            "then pass pairs[kept], same[kept] and folds=part[pairs[kept, 0]]."
        )
    raise DataError(
        f"folds: without fold {fold}, all {plural(len(same), 'pair')} left to fit on are of one kind. Ask for fewer "
        "folds, or pass the label of a fold for each pair."
    )


def _noting(data: VerificationSet, finding: Finding) -> VerificationSet:
    return replace(data, warnings=(*data.warnings, finding))
