"""Thresholds in a model's file: kept beside everything else, one for each rate, and found again by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import load_file

import fairfr
from fairfr.core.errors import DataError
from fairfr.library.model_file import describe, keep_thresholds
from fairfr.library.thresholds import checked

Faces = Any


def entry(fmr: float, plain: float | None, confident: float | None, on: str = "probability") -> dict[str, Any]:
    limits = {"threshold": plain, "confident_threshold": confident}
    return {"wanted_fmr": fmr, "confidence": 0.95, "on": on, **limits, "all": {"fmr": {"rate": 0.009}}}


@pytest.fixture
def saved(faces: Faces, tmp_path: Path) -> Path:
    fairfr.ACLinear().fit(faces.embeddings, faces.pairs, faces.same).save(tmp_path / "m.fairfr")
    return tmp_path / "m.fairfr"


def test_a_kept_threshold_is_the_models(saved: Path) -> None:
    keep_thresholds(saved, [entry(1e-2, 0.7, 0.8), entry(1e-3, 0.9, 0.95)])
    keep_thresholds(saved, [entry(1e-2, 2.5, 3.5, on="score"), entry(1e-3, 0.91, 0.96)])
    model = fairfr.load(saved)
    assert model.threshold(fmr=1e-2) == 0.8
    assert model.threshold(fmr=1e-2, confident=False) == 0.7
    assert model.threshold(0.001) == 0.96
    assert model.threshold(1e-2, on="score") == 3.5
    assert model.thresholds_[0]["all"]["fmr"]["rate"] == 0.009
    assert len(describe(saved)["thresholds"]) == 3


def test_all_else_in_the_file_stays(faces: Faces, saved: Path) -> None:
    before, arrays, model = describe(saved), load_file(saved), fairfr.load(saved)
    keep_thresholds(saved, [entry(1e-2, 0.7, 0.8)])
    after = describe(saved)
    after.pop("thresholds")
    assert after == before and load_file(saved).keys() == arrays.keys()
    again = fairfr.load(saved)
    both = [one.probability(faces.embeddings, faces.pairs).tobytes() for one in (model, again)]
    assert both[0] == both[1]
    again.save(saved)
    assert fairfr.load(saved).threshold(1e-2) == 0.8
    assert again.fit(faces.embeddings, faces.pairs, faces.same).thresholds_ == ()


def test_a_threshold_that_is_not_there_names_the_command(saved: Path) -> None:
    with pytest.raises(DataError, match=r"kept: none.*fairfr calibrate threshold --model FILE --fmr 0\.001 --keep"):
        fairfr.load(saved).threshold(fmr=1e-3)
    keep_thresholds(saved, [entry(1e-2, 0.7, None), entry(1e-4, None, None)])
    model = fairfr.load(saved)
    with pytest.raises(DataError, match=r"kept: 0\.01, 0\.0001.*--fmr 0\.001 --keep"):
        model.threshold(fmr=1e-3)
    with pytest.raises(DataError, match=r"kept: none.*--on score --keep"):
        model.threshold(fmr=1e-2, on="score")
    with pytest.raises(DataError, match=r"95 % confidence.*confident=False"):
        model.threshold(fmr=1e-2)
    assert model.threshold(fmr=1e-2, confident=False) == 0.7
    with pytest.raises(DataError, match="no threshold on the probability reached"):
        model.threshold(fmr=1e-4, confident=False)


def test_a_damaged_file_keeps_nothing(saved: Path) -> None:
    content = bytearray(saved.read_bytes())
    content[-3] ^= 4
    saved.write_bytes(content)
    with pytest.raises(DataError, match="damaged"):
        keep_thresholds(saved, [entry(1e-2, 0.7, 0.8)])
    assert saved.read_bytes() == bytes(content)


@pytest.mark.parametrize(
    "entries",
    [
        {},
        [1],
        [{"on": "probability"}],
        [entry(1e-2, float("nan"), 0.8)],
        [entry(1e-2, 0.7, True)],
        [entry(1e-2, 0.7, 0.8, on="anything")],
    ],
)
def test_thresholds_that_fairfr_never_writes_are_refused(entries: Any) -> None:
    with pytest.raises(DataError, match="thresholds"):
        checked(entries)
