"""All that a method may see of some pairs. It has no ``same``, on purpose."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fairfr.core.errors import UndeclaredInputError, UnmetNeedError, did_you_mean
from fairfr.core.near_misses import must_be_called
from fairfr.core.types import F32, F64, I16, I32, I64, Grouping, Need, StrArray
from fairfr.pairs.design import PairDesign
from fairfr.pairs.neighbours import Engine, Midpoints
from fairfr.pairs.table import PairTable

LABELS = ("same", "label", "labels", "target", "targets", "y")
"""What methods may look for in vain."""
INSTEAD = {
    "embeddings": "view.images() has the vectors, view.midpoints() what most methods need of them.",
    "vectors": "view.images() has them.",
    "left": "view.ends(values) has a value of images for the left and the right image of each pair.",
    "right": "view.ends(values) has a value of images for the left and the right image of each pair.",
    "pairs": "view.ends(values) has a value of images for the left and the right image of each pair.",
    "score": "The score that comes in is view.cosine.",
    "scores": "The score that comes in is view.cosine.",
}
"""Where that is which has another name here."""


class NoSuchInputError(UndeclaredInputError, AttributeError):
    """A method asked a view for what no view has."""


class PairView:
    """Some pairs of a data set, with only the inputs that a method declares.

    Values of images, such as group codes, are arrays over all n_images images of the table; ``ends`` looks them up for
    the left and the right image of each pair.

    Parameters
    ----------
    table : PairTable
        The pairs of a data set, with what is computed from them once.
    rows : ndarray of int64, shape (n_pairs,)
        Strictly increasing rows of the table.
    needs : frozenset of {"embeddings", "groups", "identities"}
        What the method declares. Asking for anything else raises UndeclaredInputError.
    asker : str
        The method's name, for that message.

    Attributes
    ----------
    n_pairs : int
        Number of pairs.
    cosine : ndarray of float64, shape (n_pairs,)
        Cosine of each pair.
    """

    def __init__(self, table: PairTable, rows: I64, needs: frozenset[Need], asker: str = "the method") -> None:
        assert np.all(np.diff(rows) > 0), "rows of a view are strictly increasing"
        self._table = table
        self._rows = rows
        self._needs = needs
        self._asker = asker

    def __getattr__(self, name: str) -> Any:
        """Called for what a view does not have."""
        if name.startswith("_"):
            raise AttributeError(name)
        hint = did_you_mean(name, [known for known in dir(type(self)) if not known.startswith("_")])
        if name in INSTEAD:
            hint = f" {INSTEAD[name]}"
        if name in LABELS:
            hint = " predict sees no labels; fit gets those of its training pairs as its second argument."
        raise NoSuchInputError(f"{self._asker} asked for view.{name}, which views do not have.{hint}")

    @property
    def n_pairs(self) -> int:
        return len(self._rows)

    @property
    def cosine(self) -> F64:
        """Cosine of each pair, (p,)."""
        return self._table.cosine[self._rows]

    def subset(self, index: I64) -> PairView:
        """Return the view of some of its own pairs.

        Parameters
        ----------
        index : ndarray of int64, shape (n_chosen,)
            Strictly increasing positions of pairs.

        Returns
        -------
        PairView
        """
        return PairView(self._table, self._rows[index], self._needs, self._asker)

    @must_be_called("view.order_by_id()")
    def order_by_id(self) -> I64:
        """Return the order of these pairs by the ids of their images.

        What a method draws, it draws over pairs (and images) in this order: that of the files means nothing.

        Returns
        -------
        ndarray of int64, shape (n_pairs,)
            Positions of pairs.
        """
        return np.argsort(self._table.pair_rank[self._rows], kind="stable")

    @must_be_called("view.midpoints()")
    def midpoints(self) -> PairDesign:
        """Return the midpoints (z_left + z_right) / 2 as an operator.

        Returns
        -------
        PairDesign
            Of shape (n_pairs, d). Needs "embeddings".
        """
        self._check("embeddings", "midpoints()")
        return self._table.midpoints(self._rows)

    @must_be_called("view.images()")
    def images(self) -> tuple[I64, F32]:
        """Return the distinct images that these pairs use, sorted by id. Needs "embeddings".

        Returns
        -------
        rows : ndarray of int64, shape (n_used,)
            Their places among all images.
        vectors : ndarray of float32, shape (n_used, d)
            Their unit vectors.
        """
        self._check("embeddings", "images()")
        used, _ = self._table.data.pairs.take(self._rows).compact(len(self._table.vectors))
        used = used[np.argsort(self._table.image_rank[used])]
        return used, self._table.vectors[used]

    @must_be_called("view.ends(values)")
    def ends(self, values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Look a value of images up for both images of each pair.

        Parameters
        ----------
        values : ndarray of shape (n_images, ...)
            One value for each image of the table.

        Returns
        -------
        left, right : ndarray of shape (n_pairs, ...)
            The values of the left and of the right images.
        """
        pairs = self._table.data.pairs
        return values[pairs.left[self._rows]], values[pairs.right[self._rows]]

    @must_be_called("view.folds()")
    def folds(self) -> I16:
        """The fold of each pair, (p,): numbers that tell folds apart, no more."""
        return self._table.data.fold[self._rows]

    @must_be_called("view.groups('gender')")
    def groups(self, id: str) -> I16:
        """Return the group of every image. Needs "groups".

        Parameters
        ----------
        id : str
            A grouping of the data set, such as "ethnicity".

        Returns
        -------
        ndarray of int16, shape (n_images,)
            Positions in ``group_levels(id)``; -1 where unknown.
        """
        self._check("groups", f"groups({id!r})")
        return self._grouping(id).codes

    @must_be_called("view.group_levels('gender')")
    def group_levels(self, id: str) -> tuple[str, ...]:
        """Return the names of a grouping's groups. Needs "groups".

        Codes mean something in one table only, names in any.

        Parameters
        ----------
        id : str
            A grouping of the data set, such as "ethnicity".

        Returns
        -------
        tuple of str
        """
        self._check("groups", f"group_levels({id!r})")
        return self._grouping(id).levels

    @must_be_called("view.identities()")
    def identities(self) -> I32:
        """Return the identity of every image. Needs "identities".

        Returns
        -------
        ndarray of int32, shape (n_images,)
            Codes of people; -1 where unknown.
        """
        self._check("identities", "identities()")
        return self._table.data.identity

    @must_be_called("view.identity_names()")
    def identity_names(self) -> StrArray:
        """Return the name of every image's identity. Needs "identities".

        Names, unlike codes, are the same in any table.

        Returns
        -------
        ndarray of str, shape (n_images,)
            Blank where unknown.
        """
        self._check("identities", "identity_names()")
        return self._table.identity_names

    @must_be_called("view.references()")
    def references(self, index: I64 | None = None) -> Midpoints:
        """Return midpoints for these and other pairs to measure their distance to. Needs "embeddings".

        Parameters
        ----------
        index : ndarray of int64, shape (n_chosen,), optional
            Positions of the pairs to take; all of them by default.

        Returns
        -------
        Midpoints
        """
        self._check("embeddings", "references()")
        rows = self._rows
        if index is not None:
            rows = rows[index]
        return self._table.references(rows)

    def mean_knn_distance(self, references: Midpoints, k: int, engine: Engine = "auto") -> F64:
        """Return the mean distance of each midpoint to its k nearest reference midpoints. Needs "embeddings".

        Parameters
        ----------
        references : Midpoints
            As ``references`` gives them, of this or of another view.
        k : int
            How many neighbours; all references where these are fewer.
        engine : {"auto", "scan", "faiss"}, default "auto"
            How neighbours are searched. All engines find the same ones; they differ in time.

        Returns
        -------
        ndarray of float64, shape (n_pairs,)
        """
        self._check("embeddings", "mean_knn_distance()")
        return self._table.mean_knn_distance(references, self._rows, k, engine)

    def mean_knn_distance_to_others(self, references: Midpoints, k: int, engine: Engine = "auto") -> F64:
        """As ``mean_knn_distance``, but a pair that is itself a reference (of this very table) is left out."""
        self._check("embeddings", "mean_knn_distance_to_others()")
        rows = self._table.rows_of(references)
        assert rows is not None, "who is left out is known only among references of the same table"
        return self._table.mean_knn_distance_within(self._rows, rows, k, False, engine)

    def _grouping(self, id: str) -> Grouping:
        groupings = self._table.data.groupings
        if id not in groupings:
            known = ", ".join(sorted(groupings)) or "none"
            raise UnmetNeedError(
                f"{self._asker} needs the groups '{id}' of every image, but '{self._table.data.id}' has {known}."
            )
        return groupings[id]

    def _check(self, need: Need, what: str) -> None:
        if need not in self._needs:
            declared = "{" + ", ".join(repr(n) for n in sorted(self._needs)) + "}"
            raise UndeclaredInputError(f"{self._asker} asked for {what} but declares needs={declared}.")
