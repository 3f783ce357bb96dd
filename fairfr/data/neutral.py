"""Read a full set from the neutral layout: images, pairs and one backbone's vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfr.core.errors import DataError
from fairfr.core.findings import Finding
from fairfr.core.types import F64, I64, UNKNOWN, EmbeddingSet, Pairs, VerificationSet, read_only
from fairfr.core.wording import counted, spaced
from fairfr.data.embeddings import RawVectors, read_vectors
from fairfr.data.files import DataFile
from fairfr.data.images_file import ImageTable, build_groupings, read_images
from fairfr.data.pairs_file import LabelledPairs, label_pairs, look_up, number_folds, position
from fairfr.data.settings import BackboneSettings, DatasetSettings
from fairfr.data.tables import read_table
from fairfr.data.validation import check_folds, check_pairs, group_oddities, identity_oddities, lookalikes
from fairfr.pairs.unit import unit_rows


@dataclass(frozen=True, slots=True)
class SetSpec:
    """What a set is called and which bytes it comes from."""

    dataset: DatasetSettings
    backbone: BackboneSettings
    digest: str


def load_neutral(spec: SetSpec, images: DataFile, pairs: DataFile, embeddings: DataFile) -> VerificationSet:
    """A full set: every pair refers to an image that is described and has a vector.

    Parameters
    ----------
    spec : SetSpec
        What the set is called, and how it is grouped.
    images, pairs, embeddings : DataFile
        Tables (csv or parquet) of images and pairs, and an npz with ``image`` (m,) and ``vectors`` (m, d).

    Returns
    -------
    VerificationSet
        The p pairs, over the n images that occur in one, with unit vectors (n, d); oddities are its ``warnings``.

    Raises
    ------
    DataError
        A file is malformed or contradicts itself or another; the message names file, row and remedy.
    """
    image_table = read_images(images, spec.dataset.grouping)
    labelled = read_pairs(pairs, image_table)
    found = check_pairs(labelled, image_table.ids)
    raw = read_vectors(embeddings)
    labelled, dropped = _with_vectors(labelled, image_table, raw, spec.dataset.missing)
    image_table, labelled = only_used(image_table, labelled)
    rows = position(image_table.ids, raw.images).astype(np.int64)
    ids = np.asarray(image_table.id_array())
    vectors = EmbeddingSet(spec.backbone.id, embeddings.digest, ids, unit_rows(raw.vectors, rows))
    return assemble(spec, image_table, labelled, vectors, found + dropped + _unused(raw, rows))


def read_pairs(file: DataFile, images: ImageTable) -> LabelledPairs:
    """The pairs file over the images of ``images``."""
    table = read_table(file, {"fold", "left", "right", "same"})
    table.require("fold", "left", "right", "same")
    left, right = (look_up(table, side, images.ids, str(images.path)) for side in ("left", "right"))
    return label_pairs(table, left, right)


def only_used(images: ImageTable, pairs: LabelledPairs) -> tuple[ImageTable, LabelledPairs]:
    """The images that occur in a pair, and the pairs over these."""
    used = pairs.used(len(images.ids))
    return images.keep(used), pairs.renumbered(used)


def assemble(
    spec: SetSpec, images: ImageTable, pairs: LabelledPairs, content: EmbeddingSet | F64, found: list[Finding]
) -> VerificationSet:
    """Check folds and groups and put the set together.

    Parameters
    ----------
    spec : SetSpec
        What the set is called, and how it is grouped.
    images, pairs : ImageTable, LabelledPairs
        n images that occur in a pair, and p pairs of them.
    content : EmbeddingSet or (p,)
        Vectors of these images in this order, or the cosines of the pairs if there are none.
    found : list of Finding
        What reading them has found already.
    """
    fold, labels = number_folds(pairs)
    groupings, grouping = build_groupings(images, spec.dataset.grouping)
    both = Pairs(read_only(pairs.left), read_only(pairs.right))
    oddities = [
        *found,
        *check_folds(pairs, fold, labels),
        *identity_oddities(pairs, images.identity, fold),
        *lookalikes(pairs.table.path, "folds", labels),
        *(
            alike
            for name in spec.dataset.grouping
            for alike in lookalikes(images.path, f"values of {name}", groupings[name].levels)
        ),
        *group_oddities(both, pairs.same, groupings.values(), spec.dataset.min_pairs),
    ]
    embeddings = content if isinstance(content, EmbeddingSet) else None
    ids = embeddings.images if embeddings else images.id_array()
    return VerificationSet(
        id=spec.dataset.id,
        source="files",
        backbone=spec.backbone.id,
        digest=spec.digest,
        images=ids,
        identity=read_only(images.identity),
        pairs=both,
        same=read_only(pairs.same),
        fold=read_only(fold),
        fold_labels=labels,
        groupings=groupings,
        grouping=grouping,
        embeddings=embeddings,
        cosine=None if isinstance(content, EmbeddingSet) else read_only(content),
        row=read_only(pairs.rows),
        warnings=tuple(oddities),
        people=images.people,
    )


def _with_vectors(
    pairs: LabelledPairs, images: ImageTable, raw: RawVectors, missing: str
) -> tuple[LabelledPairs, list[Finding]]:
    """The pairs whose images both have a vector; all of them, unless the user chose to drop the others."""
    used = pairs.used(len(images.ids))
    absent = used & (position(images.ids, raw.images) == UNKNOWN)
    if not absent.any():
        return pairs, []
    lost = absent[pairs.left] | absent[pairs.right]
    n_absent, n_used, n_lost = (int(np.count_nonzero(marks)) for marks in (absent, used, lost))
    what = (
        f"{raw.file.path} has no vector for {spaced(n_absent)} of {counted(n_used, 'image')} "
        f"(first: {images.ids[int(np.argmax(absent))]})"
    )
    if n_lost == len(pairs):
        raise DataError(
            f"{what}, so no pair is left. Its own ids look like '{raw.images[0]}': "
            f"import the vectors again with the ids of {images.path}."
        )
    if missing == "stop":
        raise DataError(
            f"{what}.\n  Import them again, or set dataset.missing=drop to leave out the "
            f"{counted(n_lost, 'pair')} that {'uses' if n_lost == 1 else 'use'} them."
        )
    share = f"{spaced(n_lost)} of {counted(len(pairs), 'pair')}"
    text = f"{what}; dataset.missing=drop left out the {share} that use them."
    counts = {"images": n_absent, "of": n_used, "pairs_left_out": n_lost}
    return pairs.keep(~lost), [Finding("missing-vectors", "serious", text, counts)]


def _unused(raw: RawVectors, rows: I64) -> list[Finding]:
    count = len(raw.images) - len(rows)
    if not count:
        return []
    total = counted(len(raw.images), "vector")
    text = f"{raw.file.path}: {spaced(count)} of {total} belong to images that no pair uses; they are left out."
    return [Finding("unused-vectors", "note", text, {"vectors": count, "of": len(raw.images)})]
