"""Rebuild pandas tables from their pickled state, as written by pandas 1 to 3, whichever pandas is installed.

A table is columns held together in blocks of one type, where each block says which columns it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from fairfr.data.importers.unpickle.stand_ins import Call, Missing, Name, Pending, Refused, Sealed

Finish = Callable[[Any], Any]


class Block(Pending):
    """Some columns: (values, which columns)."""

    __slots__ = ()


class Manager(Pending):
    """All columns: blocks and axes, given as arguments or (older) as state."""

    __slots__ = ()

    def __init__(self, *args: Any) -> None:
        super().__init__(args)

    def parts(self) -> tuple[list[tuple[Any, Any]], list[Any]]:
        """The blocks as (values, which columns), and the axes."""
        state = self.state
        if len(state) == 4 and isinstance(state[3], dict) and "0.14.1" in state[3]:
            inner = state[3]["0.14.1"]
            return [(block["values"], block["mgr_locs"]) for block in inner["blocks"]], list(inner["axes"])
        blocks, axes = state[0], state[1]
        blocks = [blocks] if isinstance(blocks, Block) else list(blocks)
        return [block.state[:2] for block in blocks], list(axes)


class Frame(Pending):
    """``pandas.DataFrame``."""

    __slots__ = ()

    def finished(self, finish: Finish) -> Any:
        import pandas as pd

        blocks, axes = _manager(self.state).parts()
        names, rows = (finish(axis) for axis in axes)
        columns: dict[int, Any] = {}
        for values, where in blocks:
            table, places = finish(values), _places(finish(where), len(names))
            table = table.reshape(1, -1) if table.ndim == 1 else table
            if len(table) != len(places) or table.shape[1] != len(rows) or columns.keys() & set(places):
                raise Refused("a pandas.DataFrame whose blocks contradict each other")
            columns |= dict(zip(places, table, strict=True))
        if len(columns) != len(names):
            raise Refused("a pandas.DataFrame that lacks some of its columns")
        frame = pd.DataFrame({i: columns[i] for i in range(len(names))}, index=pd.Index(rows))
        frame.columns = pd.Index(names)
        return frame


class Series(Pending):
    """``pandas.Series``."""

    __slots__ = ()

    def finished(self, finish: Finish) -> Any:
        import pandas as pd

        blocks, axes = _manager(self.state).parts()
        values, rows = finish(blocks[0][0]), finish(axes[0])
        if len(blocks) != 1 or values.ndim != 1 or len(values) != len(rows):
            raise Refused("a pandas.Series whose parts contradict each other")
        return pd.Series(values, index=pd.Index(rows), name=self.state.get("_name", self.state.get("name")))


class Index(Pending):
    """``pandas.Index`` or ``RangeIndex``: the arguments it was made with, as a dict."""

    __slots__ = ()

    def finished(self, finish: Finish) -> Any:
        state = self.state
        if not isinstance(state, dict):
            raise Refused("a pandas.Index without content")
        if "data" in state:
            return np.asarray(finish(state["data"]))
        return range(state["start"], state["stop"], state["step"])


class Backed(Pending):
    """A pandas array around a numpy array: StringArray, or Categorical with its codes."""

    __slots__ = ()

    def finished(self, finish: Finish) -> npt.NDArray[Any]:
        state = self.state
        parts = [state["_dtype"], state["_codes"]] if isinstance(state, dict) else list(state[:2])
        kind = next((part for part in parts if isinstance(part, Categories)), None)
        content = finish(next(part for part in parts if not isinstance(part, Categories | Text)))
        if kind is None:
            return content  # type: ignore[no-any-return]
        categories = np.append(np.asarray(finish(kind.state["categories"]), dtype=object), [None])
        chosen: npt.NDArray[Any] = categories[content]  # code -1 is the missing value at the end
        return chosen


class Categories(Pending):
    """``pandas.CategoricalDtype``."""

    __slots__ = ()


class Text(Pending):
    """``pandas.StringDtype``."""

    __slots__ = ()


class ArrowText(Pending):
    """A pandas array of text that is kept by arrow."""

    __slots__ = ()

    def finished(self, finish: Finish) -> npt.NDArray[Any]:
        state = self.state
        content = state.get("_pa_array", state.get("_data")) if isinstance(state, dict) else None
        chunks = content if isinstance(content, list) else [content]
        return np.concatenate([np.empty(0, object), *(_arrow_texts(chunk) for chunk in chunks)])


def _arrow_texts(chunk: Any) -> npt.NDArray[Any]:
    """The texts of one arrow array: (type, length, nulls, offset, [which are there, ends, characters], ...).

    Arrow looks at lengths and texts itself, but only once it may assume that the buffers are as long as they must be.
    """
    import pyarrow as pa

    if not isinstance(chunk, tuple) or len(chunk) < 5 or chunk[0] not in ("string", "large_string"):
        raise Refused("an arrow array that is not text")
    kind, length, _, offset, (there, ends, characters) = chunk[:5]
    if type(length) is not int or type(offset) is not int or min(length, offset) < 0:
        raise Refused("an arrow array of no known length")
    if not length:
        return np.empty(0, object)
    width = 8 if kind == "large_string" else 4
    buffers = [None if part is None else pa.py_buffer(bytes(part)) for part in (ends, characters or b"", there)]
    if len(ends) < (offset + length + 1) * width or (there is not None and 8 * len(there) < offset + length):
        raise Refused("an arrow array that is longer than its content")
    kept = pa.LargeStringArray if width == 8 else pa.StringArray
    try:
        array = kept.from_buffers(length, *buffers, -1, offset)
        array.validate(full=True)
    except pa.ArrowInvalid:
        raise Refused("an arrow array that points outside itself") from None
    # one object for equal texts: a column names the same image many times
    encoded = array.dictionary_encode()
    values = np.append(encoded.dictionary.to_numpy(zero_copy_only=False), [None])
    texts: npt.NDArray[Any] = values[np.asarray(encoded.indices.fill_null(-1))]
    return texts


def _manager(state: Any) -> Manager:
    manager = state.get("_mgr", state.get("_data")) if isinstance(state, dict) else None
    if not isinstance(manager, Manager):
        raise Refused("a pandas table without its columns")
    return manager


def _places(where: Any, count: int) -> list[int]:
    places = list(range(count))[where] if isinstance(where, slice) else np.asarray(where).ravel().tolist()
    if not all(type(place) is int and 0 <= place < count for place in places):
        raise Refused("a pandas.DataFrame with a block outside it")
    return places


def _at(classes: Mapping[str, str], stand_in: Call | Name | Sealed) -> dict[tuple[str, str], Call | Name | Sealed]:
    return {(module, name): stand_in for module, names in classes.items() for name in names.split()}


_BASE, _MANAGERS = "pandas.core.indexes.base", "pandas.core.internals.managers"
ALLOWED: Mapping[tuple[str, str], Call | Name | Sealed] = {
    **_at({"pandas": "DataFrame", "pandas.core.frame": "DataFrame"}, Frame),
    **_at({"pandas": "Series", "pandas.core.series": "Series"}, Series),
    **_at({_MANAGERS: "BlockManager SingleBlockManager", "pandas.core.internals": "BlockManager"}, Manager),
    **_at(
        {"pandas._libs.internals": "_unpickle_block", "pandas.core.internals.blocks": "new_block"},
        Call(lambda values, where, *_: Block((values, where))),
    ),
    **_at({_BASE: "_new_Index"}, Call(lambda _, state: Index(state))),
    **_at({"pandas": "Index RangeIndex", _BASE: "Index", "pandas.core.indexes.range": "RangeIndex"}, Name("an index")),
    **_at({"pandas.core.indexes.numeric": "Int64Index UInt64Index Float64Index NumericIndex"}, Name("an index")),
    **_at({"pandas._libs.arrays": "__pyx_unpickle_NDArrayBacked"}, Call(lambda *_: Backed())),
    **_at({"pandas": "Categorical", "pandas.core.arrays.categorical": "Categorical"}, Backed),
    **_at({"pandas.arrays": "StringArray", "pandas.core.arrays.string_": "StringArray"}, Backed),
    **_at({"pandas": "CategoricalDtype", "pandas.core.dtypes.dtypes": "CategoricalDtype"}, Categories),
    **_at({"pandas": "StringDtype", "pandas.core.arrays.string_": "StringDtype"}, Text),
    **_at({"pandas.arrays": "ArrowStringArray", "pandas.core.arrays.string_arrow": "ArrowStringArray"}, ArrowText),
    **_at({"pandas": "NA", "pandas._libs.missing": "NA"}, Missing("pandas.NA")),
    **_at({"pyarrow.lib": "_restore_array"}, Call(lambda state: state)),
    **_at({"pyarrow.lib": "chunked_array"}, Call(lambda chunks, *_: list(chunks))),
    **_at({"pyarrow.lib": "type_for_alias py_buffer"}, Call(lambda content: content)),
}
