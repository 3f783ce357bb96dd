"""All that a method may see of some pairs. It has no ``same``, on purpose."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fairfr.core.errors import UndeclaredInputError, UnmetNeedError
from fairfr.core.types import F32, F64, I16, I32, I64, Grouping, Need, StrArray
from fairfr.pairs.design import PairDesign
from fairfr.pairs.neighbours import Engine, Midpoints
from fairfr.pairs.table import PairTable


class PairView:
    """Some rows of a PairTable, with only the inputs that ``needs`` lists.

    Parameters
    ----------
    table : PairTable
    rows : (p,)
        Strictly increasing rows of the table.
    needs : frozenset of Need
        What the method declares. Asking for anything else raises UndeclaredInputError.
    asker : str
        The method's name, for that message.
    """

    def __init__(self, table: PairTable, rows: I64, needs: frozenset[Need], asker: str = "the method") -> None:
        assert np.all(np.diff(rows) > 0), "rows of a view are strictly increasing"
        self._table = table
        self._rows = rows
        self._needs = needs
        self._asker = asker

    @property
    def n_pairs(self) -> int:
        return len(self._rows)

    @property
    def cosine(self) -> F64:
        """Cosine of each pair, (p,)."""
        return self._table.cosine[self._rows]

    def subset(self, index: I64) -> PairView:
        """The view of some of its own pairs; ``index`` strictly increasing."""
        return PairView(self._table, self._rows[index], self._needs, self._asker)

    def order_by_id(self) -> I64:
        """Positions of these pairs sorted by the ids of their images, (p,).

        What a method draws, it draws over pairs (and images) in this order: that of the files means nothing.
        """
        return np.argsort(self._table.pair_rank[self._rows], kind="stable")

    def midpoints(self) -> PairDesign:
        """Midpoints (z_left + z_right) / 2 as an operator, (p, d)."""
        self._check("embeddings", "midpoints()")
        return self._table.midpoints(self._rows)

    def images(self) -> tuple[I64, F32]:
        """Rows of the distinct images that these pairs use, (u,), sorted by id, and their vectors, (u, d)."""
        self._check("embeddings", "images()")
        used, _ = self._table.data.pairs.take(self._rows).compact(len(self._table.vectors))
        used = used[np.argsort(self._table.image_rank[used])]
        return used, self._table.vectors[used]

    def ends(self, values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Any per-image value (n, ...), for the left and for the right image of each pair."""
        pairs = self._table.data.pairs
        return values[pairs.left[self._rows]], values[pairs.right[self._rows]]

    def folds(self) -> I16:
        """The fold of each pair, (p,): numbers that tell folds apart, no more."""
        return self._table.data.fold[self._rows]

    def groups(self, id: str) -> I16:
        """Group code of every image, (n,), -1 where unknown."""
        self._check("groups", f"groups({id!r})")
        return self._grouping(id).codes

    def group_levels(self, id: str) -> tuple[str, ...]:
        """Names of the groups that the codes index. Codes mean something in one table only, names in any."""
        self._check("groups", f"group_levels({id!r})")
        return self._grouping(id).levels

    def identities(self) -> I32:
        """Identity code of every image, (n,), -1 where unknown."""
        self._check("identities", "identities()")
        return self._table.data.identity

    def identity_names(self) -> StrArray:
        """The name of every image's identity, (n,), blank where unknown. Names, unlike codes, hold in any table."""
        self._check("identities", "identity_names()")
        return self._table.identity_names

    def references(self, index: I64 | None = None) -> Midpoints:
        """The midpoints of these pairs (or some of them), for these and other pairs to measure their distance to."""
        self._check("embeddings", "references()")
        return self._table.references(self._rows if index is None else self._rows[index])

    def mean_knn_distance(self, references: Midpoints, k: int, engine: Engine = "auto") -> F64:
        """Mean distance of each midpoint to its k nearest reference midpoints, (p,)."""
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
