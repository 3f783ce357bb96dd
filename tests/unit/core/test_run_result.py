"""The result of a run as a value: its keys in result.json are public, and nothing is lost on the way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fairfr.core.run_result import DataSummary, RunResult
from fairfr.store.result_file import read_result, read_without_metrics, write_result

FINDING = {"code": "repeated-pairs", "severity": "note", "text": "2 pairs occur twice.", "counts": {"pairs": 2}}
HEAD: dict[str, Any] = {
    "key": "synthetic-from_rfw-0123456789abcdef",
    "status": "completed",
    "source": "synthetic",
    "dataset": {"id": "lfw", "label": "LFW"},
    "backbone": {"id": "magface", "label": "MagFace"},
    "method": {"id": "gst", "label": "GST", "needs": ["groups"], "native_probability": False},
    "protocol": "transfer",
    "study": None,
    "train": {"id": "rfw", "label": "RFW"},
    "seed": 3,
    "identity": {"results_version": 3, "dataset": {"grouping": ["gender"]}},
    "differs": {"seed": 3},
    "versions": {"fairfr": "0.2.0"},
    "code": {"commit": "abc", "dirty": False},
    "finished": "2026-01-01T00:00:00+00:00",
}
DATA: dict[str, Any] = {
    "source": "synthetic",
    "digest": "d",
    "embeddings_digest": None,
    "pairs": 6000,
    "same": 3000,
    "images": 7701,
    "dimensions": None,
    "folds": ["1", "2"],
    "measured_folds": ["1", "2"],
    "grouping": "gender",
    "min_pairs": 5,
    "groups": {"gender": ["female", "male"]},
}
REST: dict[str, Any] = {
    "data": DATA,
    "threads": 2,
    "seconds": 1.25,
    "peak_memory_mb": 300.5,
    "warnings": [FINDING],
    "fit_report": {"1": {"delta": [0.1, 0.2]}},
    "metrics_version": "4-abc",
    "metric_warnings": [FINDING],
    "rescored": "2026-02-01T00:00:00+00:00",
    "files": {},
    "metrics": [{"grouping": "all", "rule": "all", "group": "all", "metric": "auroc", "mean": 0.9}],
}
FAILED = {**HEAD, "status": "failed", "error": "DataError: no pairs.", "files": {}}


@pytest.mark.parametrize("stored", [{**HEAD, **REST}, FAILED], ids=["completed", "failed"])
def test_what_was_read_is_written_as_it_was(stored: dict[str, Any]) -> None:
    again = RunResult.from_json(stored).to_json()
    assert json.dumps(again) == json.dumps(stored), "the same keys in the same order"


def test_a_file_that_is_read_and_written_again_has_the_same_bytes(tmp_path: Path) -> None:
    folder = tmp_path.joinpath("lfw", "magface", "gst", HEAD["key"])
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text("seed: 3\n")
    write_result(folder, RunResult.from_json({**HEAD, **REST}))
    first = (folder / "result.json").read_bytes()
    for read in (read_result, read_without_metrics):
        result = read(folder)
        assert result is not None
        write_result(folder, result)
        assert (folder / "result.json").read_bytes() == first


def test_the_parts_have_names() -> None:
    result = RunResult.from_json({**HEAD, **REST})
    assert result.run_key.path_parts == ("lfw", "magface", "gst", HEAD["key"]) and result.run_key.train == "rfw"
    assert result.method.needs == ("groups",) and not result.method.native_probability
    assert result.data.groups == {"gender": ("female", "male")} and result.seconds == 1.25
    assert result.identity == HEAD["identity"] and result.differs == {"seed": 3}
    assert result.metrics == REST["metrics"]
    assert [finding.code for finding in result.warnings] == ["repeated-pairs"]
    failed = RunResult.from_json(FAILED)
    assert failed.metrics == [] and failed.data == DataSummary() and failed.error == "DataError: no pairs."


def test_metrics_are_read_when_they_are_asked_for_and_once() -> None:
    calls = []

    def read_rows() -> list[dict[str, Any]]:
        calls.append(1)
        return [{"metric": "auroc"}]

    head = {key: value for key, value in {**HEAD, **REST}.items() if key != "metrics"}
    result = RunResult.from_json(head, read_rows)
    assert result.metrics_version == "4-abc" and calls == []
    assert result.metrics == result.metrics == [{"metric": "auroc"}] and calls == [1]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"dataset": None}, "dataset is no mapping"),
        ({"backbone": {}}, "'backbone.id' is missing"),
        ({"backbone": {"id": "../x"}}, "'../x' is no name"),
        ({"key": 7}, "key must be a text, found 7"),
        ({"data": 5}, "data is no mapping"),
        ({"data": {**DATA, "pairs": "6000"}}, "data.pairs must be a whole number"),
        ({"warnings": [{"text": "no code"}]}, r"'warnings\[0\].code' is missing"),
        ({"train": {"label": "no id"}}, "'train.id' is missing"),
    ],
)
def test_what_is_damaged_is_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        RunResult.from_json({**HEAD, **REST, **change})


@pytest.mark.parametrize("name", ["status", "source", "finished", "identity", "differs"])
def test_what_every_version_has_written_must_be_there(name: str) -> None:
    with pytest.raises(ValueError, match=f"'{name}' is missing"):
        RunResult.from_json({key: value for key, value in HEAD.items() if key != name})


def test_something_else_than_a_mapping_is_refused() -> None:
    for stored in (None, [1], "text"):
        with pytest.raises(ValueError, match="no mapping"):
            RunResult.from_json(stored)  # type: ignore[arg-type]
