"""A run as MLflow shows it: names, description, tags and data set."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fairfr.core.run_result import RunResult
from fairfr.store.mlflow.describe import command_of, dataset_of, metric_name, note_of, params_of, run_name, tags_of
from fairfr.store.result_file import DamagedRunError

ACCEPTED = re.compile(r"[/\w.\- ]+")  # metric names: by MLflow, of every version and on every system
RESULT: dict[str, Any] = {
    "key": "k",
    "status": "completed",
    "source": "files",
    "finished": "2026-01-01",
    "dataset": {"id": "mine", "label": "My set"},
    "backbone": {"id": "net", "label": "Net"},
    "method": {"id": "ac_linear", "label": "AC-Linear", "needs": ["embeddings"]},
    "identity": {"data": "0123456789abcdef" * 4},
    "differs": {"method.estimator.C": 2.0},
    "data": {"pairs": 6000, "same": 3000, "images": 7701, "folds": ["0", "1"], "grouping": "gender"},
    "warnings": [{"code": "few", "severity": "note", "text": "12 images have no group."}],
    "metric_warnings": [{"code": "few", "severity": "note", "text": "TPR rests on 3 false matches."}],
    "metrics": [],
}


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [1, 2]\nb: *a\n",
        "method: 5",
        "- 1",
        "",
        "a: [",
        "a: !!python/object/apply:os.system [true]",
        "[" * 5000,
        "\x00",
    ],
)
def test_a_configuration_that_is_none_is_damage(tmp_path: Path, text: str) -> None:
    """Also one of a few lines that stand for gigabytes, by aliases of aliases."""
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(DamagedRunError, match=r"config\.yaml"):
        list(params_of(RunResult.from_json(RESULT), tmp_path))


@pytest.mark.parametrize("code", [None, {"commit": "ab12", "dirty": True}])
def test_mlflow_gets_the_commit_under_its_own_names(code: Any, tmp_path: Path) -> None:
    tags = dict(tags_of(RunResult.from_json(RESULT | {"code": code}), tmp_path))
    assert tags.get("mlflow.source.git.commit") == (code and "ab12")
    assert tags.get("mlflow.source.git.dirty") == (code and True)


def test_the_description_says_what_was_run_on_what_and_what_to_beware_of() -> None:
    note = note_of(RunResult.from_json(RESULT))
    for part in ("AC-Linear", "My set x Net", "C=2", "embeddings", "6,000 pairs (3,000 genuine)", "2 folds", "gender"):
        assert part in note, part
    assert "12 images have no group." in note and "3 false matches" in note
    assert "synthetic" not in note.lower()
    plain = note_of(RunResult.from_json(RESULT | {"source": "synthetic", "differs": {}}))
    assert "SYNTHETIC stand-in" in plain and "Default configuration" in plain


def test_a_name_begins_with_what_differs_and_says_synthetic_before_the_page_cuts_it() -> None:
    assert run_name(RunResult.from_json(RESULT)) == "AC-Linear (C=2) | mine | net"
    assert run_name(RunResult.from_json(RESULT | {"source": "synthetic"})) == "AC-Linear (C=2) | synthetic | mine | net"


def test_a_method_s_own_parameters_come_before_the_page_cuts_the_name() -> None:
    differs = {"dataset.standin.scale": 0.3, "seed": 1, "method.estimator.C": 10.0}
    name = run_name(RunResult.from_json(RESULT | {"differs": differs}))
    assert name == "AC-Linear (C=10, standin.scale=0.3, seed=1) | mine | net"


def test_a_failed_run_says_why() -> None:
    failed = {
        key: value for key, value in RESULT.items() if key not in ("data", "warnings", "metric_warnings", "metrics")
    }
    assert "no room" in note_of(RunResult.from_json(failed | {"status": "failed", "error": "no room"}))


def test_the_data_set_names_its_bytes_and_its_folder(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("data_root: /there\n")
    about = dataset_of(RunResult.from_json(RESULT), tmp_path)
    assert about is not None and about["name"] == "mine x net" and about["source_type"] == "local"
    assert RESULT["identity"]["data"].startswith(about["digest"]) and 8 <= len(about["digest"]) <= 36
    assert json.loads(about["source"]) == {"uri": "/there/mine"}
    assert {"num_rows": 6000, "genuine": 3000, "folds": 2}.items() <= json.loads(about["profile"]).items()
    synthetic = dataset_of(RunResult.from_json(RESULT | {"source": "synthetic"}), tmp_path)
    assert synthetic is not None and "synthetic" in synthetic["name"] and synthetic["source_type"] == "code"
    assert dataset_of(RunResult.from_json(RESULT | {"identity": {}}), tmp_path) is None


def test_no_group_takes_the_place_of_another() -> None:
    groups = ["a/b", "a_b", "a.x2f.b", "..", "a b", "worst", "x" * 300 + "a", "x" * 300 + "b"]
    named = [metric_name("group", "paper", "auroc", group) for group in groups]
    assert len(set(named)) == len(groups) and named[1] == "group/paper/auroc/a_b"
    for name in named:
        assert ACCEPTED.fullmatch(name) and len(name) <= 250 and ".." not in name.split("/"), name
        assert name.startswith("group/paper/auroc/") and name.count("/") == 3


@given(st.text(min_size=1, max_size=20))
@example("a.x2f.b")
@example("./x")
def test_the_spelling_of_a_name_can_be_read_back(name: str) -> None:
    spelled = metric_name(name)
    assert ACCEPTED.fullmatch(spelled) and "/" not in spelled and spelled.strip(".")
    assert re.sub(r"\.x([0-9a-f]+)\.", lambda found: chr(int(found[1], 16)), spelled) == name


def test_the_command_of_a_sweep_can_be_pasted_into_a_shell() -> None:
    overrides = ["method=glob(*)", "dataset.label='a; rm -rf ~'", "seed=0,1", "+x=$(id)"]
    command = command_of(overrides)
    said = subprocess.run(
        ["sh", "-c", f"set -- {command}; printf '%s\\n' \"$@\""], capture_output=True, text=True, check=True
    )
    assert said.stdout.splitlines() == ["python", "run.py", "-m", *overrides]
    assert command_of(["method=platt,beta"]) == "python run.py -m method=platt,beta", "quoted only where it must be"
