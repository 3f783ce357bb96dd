"""Tables of every pandas since 1.0 come in with all their cells, and those that lie about their parts are refused."""

from __future__ import annotations

import base64
import pickle
import pickletools
import zlib
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pytest
from pandas._libs.internals import _unpickle_block
from pandas.core.internals.managers import BlockManager

Load: TypeAlias = Callable[[bytes], object]
Refusal: TypeAlias = Callable[[bytes], str]
PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)


def _frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "category": pd.Categorical([None, "Asian", "African"]),
            "person": ["m.1", "m.2", None],
            "image_id": [1, 2, 3],
            "score": [0.5, np.nan, 1.0],
            "other": [4, 5, 6],
            "embedding": [np.arange(3.0) + i for i in range(3)],
        }
    )


FRAMES: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "as it is": lambda frame: frame,
    "index of text": lambda frame: frame.set_index(pd.Index(["a", "b", "c"])),
    "part": lambda frame: frame.iloc[1:],
    "objects": lambda frame: frame.assign(person=frame["person"].astype(object)),
    "python text": lambda frame: frame.assign(person=frame["person"].astype("string[python]")),
    "arrow text": lambda frame: frame.assign(
        person=pd.concat([frame["person"]] * 2).iloc[3:].astype("string[pyarrow]")
    ),
    "one type": lambda frame: frame[["image_id", "other"]],
}


@pytest.mark.parametrize("change", FRAMES.values(), ids=FRAMES.keys())
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_tables_keep_their_cells(load: Load, change: Callable[..., pd.DataFrame], protocol: int) -> None:
    frame = change(_frame())
    found = load(pickle.dumps(frame, protocol))
    assert isinstance(found, pd.DataFrame)
    assert found.columns.tolist() == frame.columns.tolist()
    assert found.index.tolist() == frame.index.tolist()
    for name in frame.columns:
        for mine, theirs in zip(found[name], frame[name], strict=True):
            if name == "embedding":
                np.testing.assert_array_equal(mine, theirs)
            else:
                assert (pd.isna(mine) and pd.isna(theirs)) or mine == theirs
    for name in {"image_id", "score", "other"} & set(frame.columns):
        assert found[name].dtype == frame[name].dtype


# a table of two rows (image_id, person, embedding) as these versions pickle it, compressed
OLD_TABLES = {
    "pandas 1.5.3": (
        "c-nPS-)q!B5KeM;dj7y#L_I-#@Too+&?g0<Vnwj05&9^UWs~eBp~)ufZfFl$(TAQb>|4kG)BiwcHh1<;&kf8@l9_M5nf>-_|Hqe}"
        "=a$`UxJ<bYlUj*zqIf01UVF<8f9L!Qc=8QSV9WMdl_{`~mct8agp$0}VZ|lSgwkMdzA5YE;A8iW>Gs|{gOx?BFH^v7uvRuja!?8u"
        "Qw{~+m2K5bJM^k8O~IAoQ$%G-B(>B=wTYp?feQqC6|r5&1&qB@*zsfd4tuaQ_VEd3kZ;&QYNic!VuRuZoS$|7d)9viQ55a|!sX1^"
        "GZ3He-1fW4c)@%J{A`DDTOb{Yya&2065$F`6@nWFWb+&Ot$dSc<aZV%0!LzGgHJ1^kN+yYO{Mp7%)Kgn24tVZzhJ#n2Q^uO${()l"
        "VdSl>pWAciHTAL{_vN3g%jj+!x-3DNk12S$<rxs^(W)p?aU^sYbB$8E&ZIbG@97&(EZ?<*h3`a_qR{@+=u<b3VNs!wSdoIg(xAX<"
        "iSiUxEYh@)84xSmm!#CFozWS5un*R;QCwz3XOH$J3i;;<57cmF@HlN>o4Uc)$PwuH4pWf93xG1h;zW6IPgo@kcRlQ*F1Rsx15S`B"
        "o0L3r?tNaC^`T~I+n{Q=5v=5~K>45PHV%ISgmzJc"
    ),
    "pandas 2.2.3": (
        "c-nPS-)q!B5WeK@^!$Of2zr9};8T4tpidQq7At~1jnGG-ESqF63EgbM?uPcjqCWI&Vc$CbpZ*6rvv+6j^xVMgB$@f<o7r!__I`Zn"
        "cKmXi4ObaAQCe#ejWw?XxEpV{<!`-z2~WSlDQvkOt8xwQ@p5>ntk8-}6IERCTxbLC_G?+EM;~VInC|Y+GngzBbCm*agSDzD(<3QZ"
        "LODKIwN*2Tn1`=gX-lp(pCByLBCVCNx=k%b_I)I{>j>^cE@9L;gS{Yu?{ENHqX3_93dM%&XLiz1D=sXz;o^Muzw3fm5XbTUFI?V?"
        "Iu??Py}Q9|G@Wq11Acacq%Dz-LgIZR%T)M+RE6M1A=%<qai`cM8pXW@iO`c6y71#l>Cb<a-l5WmIOlE^JqNNc;9s!rnTHxLK^2eI"
        "^)T$Lte-n`XP0_ekNfgZ)>ZUu8~7|inNKKqx#cMk>EWs>GI1hIlyHMuy2+F{X7A`5POR8>{e|yUm7&u9)95olk3m_Xl31C6yVjt>"
        "YK8g~RU)#iR5=hU*Ha|bxSi4&ymt@RvC&-RMCX9^B?`r-7!TBPZSgo=&)B-b*2od)1Rhh6!5e@w!s0}EaZy+$EcZPeqAs|#cm+<8"
        "DH}_kd-nmCvOYE}Ya3Jzw}MHY2-N?%X_M$T-5ycp"
    ),
}


@pytest.mark.parametrize("version", OLD_TABLES)
def test_tables_of_older_pandas(load: Load, version: str) -> None:
    found = load(zlib.decompress(base64.b85decode(OLD_TABLES[version])))
    assert isinstance(found, pd.DataFrame)
    assert found["image_id"].tolist() == [1, 2]
    assert found["person"].tolist() == ["m.1", "m.2"]
    np.testing.assert_array_equal(np.stack(found["embedding"].tolist()), [[0, 1, 2], [1, 2, 3]])


def _of(module: str, name: str) -> bytes:
    return b"\x8c" + bytes([len(module)]) + module.encode() + b"\x8c" + bytes([len(name)]) + name.encode() + b"\x93"


def _inner(value: object) -> bytes:
    """The opcodes of ``value`` for use inside another pickle: no header, no end, no numbered memory."""
    return pickletools.optimize(pickle.dumps(value, 3))[2:-1]


def test_tables_of_pandas_1_0(load: Load) -> None:
    """There the columns hang on ``_data``, and all is in the state of the manager."""
    index = _of("pandas.core.indexes.base", "_new_Index") + _of("pandas.core.indexes.base", "Index")
    names = index + b"}" + _inner("data") + _inner(np.array(["a", "b"], object)) + b"s\x86R"
    rows = _of("pandas.core.indexes.base", "_new_Index") + _of("pandas.core.indexes.range", "RangeIndex")
    rows += _inner({"start": 0, "stop": 3, "step": 1, "name": None}) + b"\x86R"
    values = _inner(np.arange(6).reshape(2, 3))
    block = b"}(" + _inner("values") + values + _inner("mgr_locs") + _inner(np.array([1, 0])) + b"u"
    inner = b"}(" + _inner("axes") + b"](" + names + rows + b"e" + _inner("blocks") + b"](" + block + b"eu"
    state = b"(]]]}" + _inner("0.14.1") + inner + b"st"
    manager = _of("pandas.core.internals.managers", "BlockManager") + b")\x81" + state + b"b"
    data = b"\x80\x04" + _of("pandas.core.frame", "DataFrame") + b")\x81}" + _inner("_data") + manager + b"sb."
    found = load(data)
    assert isinstance(found, pd.DataFrame)
    assert found.to_dict("list") == {"a": [3, 4, 5], "b": [0, 1, 2]}


def test_series_keep_name_and_index(load: Load) -> None:
    series = pd.Series([1.5, 2.5], index=["x", "y"], name="n")
    found = load(pickle.dumps(series))
    assert isinstance(found, pd.Series)
    assert found.to_dict() == {"x": 1.5, "y": 2.5}
    assert found.name == "n"


@pytest.mark.parametrize(
    ("length", "offset", "ends", "there"),
    [
        (2, 0, (0, 1, 99), None),
        (2, 0, (0, 3, 1), None),
        (2, 0, (-5, 1, 2), None),
        (2, 1, (0, 1, 2), None),
        (2**62, 2**62, (0, 1, 2), None),
        (-1, 0, (0, 1, 2), None),
        (2, 0, (0, 1, 2), b""),
        (2, 0, (0, 1, 3), None),
    ],
)
def test_texts_outside_their_buffer_are_refused(
    refusal: Refusal, reduces: type[Any], length: int, offset: int, ends: tuple[int, ...], there: bytes | None
) -> None:
    """As pandas 3 keeps text; the characters are 'x', 'y' and a byte that is no UTF-8."""
    import pyarrow as pa

    state = ("large_string", length, 0, offset, [there, np.array(ends, "<i8").tobytes(), b"xy\xff"], [], None)
    content = pickle.dumps({"_pa_array": reduces(pa.lib._restore_array, (state,))}, 3)[2:-1]
    data = b"\x80\x04\x8c\rpandas.arrays\x8c\x10ArrowStringArray\x93)\x81" + content + b"b."
    assert "an arrow array" in refusal(data)


@pytest.mark.parametrize("where", [slice(10**6, 10**6 + 1), slice(-5, -4), np.array([10**6]), np.array([-3])])
def test_blocks_outside_their_table_are_refused(refusal: Refusal, reduces: type[Any], where: object) -> None:
    """pandas itself follows what the block says, and the process ends."""
    block = reduces(_unpickle_block, (np.arange(6.0).reshape(1, 6), where, 2))
    manager = reduces(BlockManager, ((block,), [pd.Index(["a"]), pd.RangeIndex(6)]))
    content = pickle.dumps({"_mgr": manager, "_typ": "dataframe"}, 3)[2:-1]
    data = b"\x80\x04\x8c\x06pandas\x8c\x09DataFrame\x93)\x81" + content + b"b."
    assert "a pandas.DataFrame" in refusal(data)
