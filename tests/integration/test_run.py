"""run.py from files (or the stand-in) to a run folder, and what it answers to mistakes."""

from __future__ import annotations

import importlib
import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.metrics import brier_score_loss, roc_auc_score

from fairfr.core.config import instantiate
from fairfr.core.errors import ConfigError, DataError, FairfrError, UnmetNeedError
from fairfr.core.provenance import code_digest
from fairfr.core.run_key import configuration_digest
from fairfr.core.types import MetricRow
from fairfr.store.settings import StoreSettings
from fairfr.sweep.arguments import prepare
from fairfr.sweep.mirror import Mirror
from fairfr.sweep.terminal import Terminal

CONF = Path(__file__).parents[2] / "conf"
SMALL = ("dataset=lfw", "++dataset.standin.scale=0.03", "source=synthetic")
MINE = ("dataset=custom", "dataset.id=mine", "dataset.grouping=[ethnicity,gender]", "dataset.min_pairs=4")
MYNET = ("backbone=custom", "backbone.id=mynet", "source=files")
SCORE_COLUMNS = [
    "pair",
    "fold",
    "split",
    "left",
    "right",
    "identity_left",
    "identity_right",
    "same",
    "cosine",
    "score",
    "probability",
]


def results_below(out: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(out.glob("runs/*/*/*/*/result.json"))]


def summary(result: dict[str, Any], metric: str, grouping: str = "all", rule: str = "all", group: str = "all") -> Any:
    wanted = (grouping, rule, group, metric)
    (row,) = [r for r in result["metrics"] if (r["grouping"], r["rule"], r["group"], r["metric"]) == wanted]
    return row


# ---- one run, end to end -------------------------------------------------------------------------------------------


def test_a_single_run_prints_a_table_and_leaves_one_whole_folder(start_run_py: Any, tmp_path: Path) -> None:
    done = start_run_py("dataset=lfw", "dataset.standin.scale=0.03", "method=platt", "store=folder")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SYNTHETIC" in done.stdout and "Platt" in done.stdout and "0.9" in done.stdout
    assert done.stderr == ""
    (folder,) = (tmp_path / "out" / "runs" / "lfw" / "magface" / "platt").iterdir()
    assert folder.name.startswith("synthetic-")
    names = {"result.json", "config.yaml", "scores.parquet", "metrics.parquet", "run.log"}
    assert {path.name for path in folder.iterdir()} == names
    assert str(folder) in done.stdout
    assert "MLflow" not in done.stdout, "store=folder keeps nothing there"
    assert (folder / "run.log").read_text().count(" fold ") == 10


def test_result_json_holds_all_that_tables_need(cell: Any, small: tuple[str, ...]) -> None:
    outcome = cell(*small, "method=ac_linear", "seed=3")
    result = json.loads((outcome.folder / "result.json").read_text())
    assert result.pop("seal") and result == json.loads(json.dumps(outcome.result.to_json()))
    assert result["key"] == outcome.folder.name and result["status"] == "completed"
    assert result["source"] == "synthetic" == result["data"]["source"]
    assert result["dataset"] == {"id": "lfw", "label": "LFW"}
    assert result["backbone"] == {"id": "magface", "label": "MagFace"}
    wanted = {"id": "ac_linear", "label": "AC-Linear", "needs": ["embeddings"], "native_probability": True}
    assert result["method"] == wanted
    assert result["seed"] == 3 and result["threads"] == 1
    assert result["identity"]["seed"] == 3 and result["identity"]["dataset"]["grouping"] == ["ethnicity", "gender"]
    assert configuration_digest(result["identity"]) == outcome.key.digest, "the key can be checked"
    assert result["seconds"] > 0 and result["peak_memory_mb"] > 10
    assert len(result["data"]["digest"]) == 64 and result["data"]["embeddings_digest"]
    assert {"python", "fairfr", "numpy", "scipy", "scikit-learn"} <= set(result["versions"])
    assert set(result["fit_report"]) == {str(fold) for fold in range(10)}
    assert {(r["grouping"], r["rule"]) for r in result["metrics"]} == {
        ("all", "all"),
        *((g, rule) for g in ("ethnicity", "gender", "ethnicity_x_gender") for rule in ("both", "first")),
    }
    assert {"mean", "std", "folds", "n_same", "n_diff"} <= set(result["metrics"][0])
    groups = {r["group"] for r in result["metrics"] if r["grouping"] == "gender"}
    assert groups == {"female", "male", "worst", "gap"}


def test_columns_and_types_of_the_scores(cell: Any, write_set: Callable[..., Path]) -> None:
    outcome = cell(*MINE, *MYNET, f"data_root={write_set()}", "method=ac_linear")
    frame = pd.read_parquet(outcome.folder / "scores.parquet")
    assert list(frame.columns) == [*SCORE_COLUMNS, "ethnicity", "gender", "ethnicity_x_gender"]
    kinds = {name: frame[name].dtype for name in ("pair", "same", "cosine", "score", "probability")}
    assert kinds == {"pair": "int64", "same": "bool", "cosine": "float64", "score": "float64", "probability": "float64"}
    given = pd.read_csv(write_set() / "mine" / "pairs.csv")
    assert frame["pair"].tolist() == list(range(120))
    assert frame["fold"].astype(int).tolist() == given["fold"].tolist()
    for side in ("left", "right"):
        assert frame[side].astype(str).tolist() == given[side].tolist()
        assert pd.api.types.is_integer_dtype(frame[f"identity_{side}"].dtype)
    people = pd.read_csv(write_set() / "mine" / "images.csv").set_index("image")["identity"]
    named = [people[given[side]].reset_index(drop=True) for side in ("left", "right")]
    codes = [frame[f"identity_{side}"] for side in ("left", "right")]
    pairs_of_names = set(zip(pd.concat(codes), pd.concat(named), strict=True))
    assert len(pairs_of_names) == len(set(pd.concat(named)))  # one code for each person, on either side
    assert frame["same"].tolist() == given["same"].astype(bool).tolist()
    assert frame["ethnicity_x_gender"].astype(str).iloc[0] == "asian_female"
    assert np.isfinite(frame[["cosine", "score", "probability"]].to_numpy()).all()


def test_stored_cosines_are_those_of_the_files(cell: Any, write_set: Callable[..., Path]) -> None:
    root = write_set()
    outcome = cell(*MINE, *MYNET, f"data_root={root}", "method=baseline")
    frame = pd.read_parquet(outcome.folder / "scores.parquet")
    stored = np.load(root / "mine" / "embeddings" / "mynet.npz")
    unit = stored["vectors"].astype(float)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    row = {image: i for i, image in enumerate(stored["image"])}
    left, right = ([row[image] for image in frame[side].astype(str)] for side in ("left", "right"))
    np.testing.assert_allclose(frame["cosine"], np.sum(unit[left] * unit[right], axis=1), atol=1e-6)
    np.testing.assert_array_equal(frame["score"], frame["cosine"])


def test_metrics_are_metric_rows_and_agree_with_the_scores(cell: Any, write_set: Callable[..., Path]) -> None:
    outcome = cell(*MINE, *MYNET, f"data_root={write_set()}", "method=ac_linear")
    scores = pd.read_parquet(outcome.folder / "scores.parquet")
    metrics = pd.read_parquet(outcome.folder / "metrics.parquet")
    assert tuple(metrics.columns) == MetricRow._fields
    by_fold = [roc_auc_score(f["same"], f["score"]) for _, f in scores.groupby("fold", observed=True)]
    row = summary(outcome.result.to_json(), "auroc")
    assert row["mean"] == pytest.approx(np.mean(by_fold), abs=1e-12)
    assert row["std"] == pytest.approx(np.std(by_fold), abs=1e-12)
    assert row["folds"] == 3 and row["n_same"] == row["n_diff"] == 60
    assert row["pooled"] == pytest.approx(roc_auc_score(scores["same"], scores["score"]), abs=1e-12)
    pooled = brier_score_loss(scores["same"], scores["probability"])
    assert summary(outcome.result.to_json(), "brier")["pooled"] == pytest.approx(pooled, abs=1e-12)
    of_group = [
        roc_auc_score(f["same"], f["score"])
        for _, f in scores[scores["ethnicity"] == "asian"].groupby("fold", observed=True)
    ]
    row = summary(outcome.result.to_json(), "auroc", "ethnicity", "both", "asian")
    assert row["mean"] == pytest.approx(np.mean(of_group), abs=1e-12)
    table = metrics[(metrics["metric"] == "auroc") & (metrics["group"] == "all") & (metrics["fold"] != "pooled")]
    assert table["value"].tolist() == pytest.approx(by_fold, abs=1e-12)


def test_scores_are_held_out(cell: Any, write_set: Callable[..., Path]) -> None:
    """Flipping the labels of one fold changes other folds' probabilities, never its own."""
    root = write_set()
    options = (*MINE, *MYNET, f"data_root={root}", "method=ac_linear")
    before = pd.read_parquet(cell(*options).folder / "scores.parquet")
    path = root / "mine" / "pairs.csv"
    pairs = pd.read_csv(path)
    flipped = pairs["fold"] == 1
    pairs.loc[flipped, "same"] = 1 - pairs.loc[flipped, "same"]
    pairs.to_csv(path, index=False)
    after = pd.read_parquet(cell(*options).folder / "scores.parquet")
    np.testing.assert_array_equal(before["probability"][flipped], after["probability"][flipped])
    assert not np.allclose(before["probability"][~flipped], after["probability"][~flipped])


def test_same_seed_and_threads_give_the_same_bytes(cell: Any, small: tuple[str, ...]) -> None:
    """The references of AC-Density are drawn at random, so another seed must give other scores."""
    first = cell(*small, "method=ac_density", "dataset.max_references=40")
    before = (first.folder / "scores.parquet").read_bytes()
    again = cell(*small, "method=ac_density", "dataset.max_references=40", "force=true")
    assert (again.status, again.folder) == ("completed", first.folder)
    assert (again.folder / "scores.parquet").read_bytes() == before
    other = cell(*small, "method=ac_density", "dataset.max_references=40", "seed=1")
    one, two = (pd.read_parquet(o.folder / "scores.parquet")["score"] for o in (again, other))
    assert other.key != first.key and not np.array_equal(one, two)
    assert cell(*small, "method=ac_density", "++method.estimator.max_references=40").status == "skipped"


def test_method_and_splitter_are_built_once_besides_a_method_for_every_fit(
    cell: Any, small: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[str] = []

    def counted(spec: dict[str, Any], at: str) -> Any:
        built.append(at)
        return instantiate(spec, at)

    monkeypatch.setattr("fairfr.runner.settings.instantiate", counted)
    outcome = cell(*small, "dataset.grouping=[]", "method=platt")
    fits = len(outcome.result.fit_report)
    assert fits == 10 and built.count("method.estimator") == 1 + fits and built.count("protocol.splitter") == 1
    built.clear()
    assert cell(*small, "dataset.grouping=[]", "method=platt").status == "skipped"
    assert sorted(built) == ["method.estimator", "protocol.splitter"]


def test_stored_configuration_is_resolved(cell: Any, small: tuple[str, ...]) -> None:
    outcome = cell(*small, "method=platt", "method.estimator.C=0.5")
    config = yaml.safe_load((outcome.folder / "config.yaml").read_text())
    assert config["method"]["estimator"]["C"] == 0.5 and config["dataset"]["standin"]["scale"] == 0.03
    assert "${" not in (outcome.folder / "config.yaml").read_text()


def test_progress_hears_every_fold_and_warning(cell: Any, heard: Any, small: tuple[str, ...]) -> None:
    outcome = cell(*small, "method=baseline")
    assert heard.n_folds == 10 and heard.folds == [str(fold) for fold in range(10)]
    warnings = [finding for finding in outcome.result.metric_warnings if finding.severity != "note"]
    assert heard.warnings == warnings and len(warnings) >= 2
    assert outcome.result.warnings == ()


# ---- the user's own files ------------------------------------------------------------------------------------------


def test_custom_set_and_backbone_without_writing_yaml(run_py: Any, write_set: Callable[..., Path]) -> None:
    root = write_set()
    out = root.parent / "out"
    done = run_py(*MINE, *MYNET, f"data_root={root}", "method=ac_linear", "store=folder")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "synthetic" not in done.stdout.lower() and "mine x mynet" in done.stdout
    (result,) = results_below(out)
    assert result["source"] == "files" and not result["key"].startswith("synthetic")
    assert result["data"]["grouping"] == "ethnicity_x_gender" and result["data"]["dimensions"] == 12
    assert summary(result, "auroc")["mean"] > 0.9


@pytest.mark.parametrize("kind", [np.float16, np.float64])
def test_parquet_and_other_number_types_give_the_same_scores(
    cell: Any, write_set: Callable[..., Path], tmp_path: Path, kind: type
) -> None:
    as_csv = cell(*MINE, *MYNET, f"data_root={write_set()}", "method=baseline")
    stored = np.load(tmp_path / "data" / "mine" / "embeddings" / "mynet.npz")["vectors"]
    write_set("other", ending="parquet", vectors=(stored * 3).astype(kind))
    as_parquet = cell(*MINE, *MYNET, f"data_root={tmp_path / 'data'}", "method=baseline", "dataset.id=other")
    one, two = (pd.read_parquet(o.folder / "scores.parquet") for o in (as_csv, as_parquet))
    np.testing.assert_allclose(one["cosine"], two["cosine"], atol=2e-3 if kind is np.float16 else 1e-6)
    for name in ("pair", "fold", "left", "right", "same", "ethnicity", "gender"):
        assert one[name].tolist() == two[name].tolist()


def test_without_groups_the_columns_and_the_key_are_told(cell: Any, write_set: Callable[..., Path], heard: Any) -> None:
    """As a note of a run, and in the error of a method that needs groups; one column may be named without brackets."""
    mine = (*MINE[:2], "dataset.min_pairs=4", *MYNET, f"data_root={write_set()}")
    advice = "levels: ethnicity (2), gender (2). Name one or several: 'dataset.grouping=[ethnicity]'"
    assert any(note.text.endswith(advice) for note in cell(*mine, "method=baseline").result.warnings)
    refused = cell(*mine, "method=oracle")
    assert refused.status == "failed" and str(refused.error).endswith(advice)
    plain = cell(*mine, "method=oracle", "dataset.grouping=gender")
    listed = cell(*mine, "method=oracle", "dataset.grouping=[gender]")
    assert plain.status == "completed" and listed.status == "skipped" and plain.key == listed.key


def test_pairs_without_folds_run_by_a_protocol_that_makes_some(cell: Any, write_set: Callable[..., Path]) -> None:
    root = write_set()
    path = root / "mine" / "pairs.csv"
    pd.read_csv(path).drop(columns="fold").to_csv(path, index=False)
    options = (*MINE, *MYNET, f"data_root={root}", "method=baseline")
    made = cell(*options, "protocol=identity_disjoint", "protocol.splitter.folds=3")
    assert made.status == "completed" and made.result.data.measured_folds == ("0", "1", "2")
    refused = cell(*options)
    assert refused.status == "failed" and "have no folds: add protocol=identity_disjoint" in str(refused.error)


def test_people_who_are_all_linked_are_not_sent_to_the_protocol_that_they_use(
    cell: Any, write_set: Callable[..., Path]
) -> None:
    root = write_set()
    images = pd.read_csv(root / "mine" / "images.csv")
    few = images[images["identity"].isin(images["identity"].unique()[:4])]["image"].tolist()
    rows = [(a, b) for number, a in enumerate(few) for b in few[:number]]
    pairs = pd.DataFrame(rows, columns=["left", "right"])
    person = images.set_index("image")["identity"]
    pairs["same"] = (pairs["left"].map(person) == pairs["right"].map(person)).astype(int)
    pairs.to_csv(root / "mine" / "pairs.csv", index=False)
    options = (*MINE, *MYNET, f"data_root={root}", "method=platt", "protocol=identity_disjoint")
    refused = cell(*options, "protocol.splitter.folds=2")
    assert refused.status == "failed" and "link one person to another" in str(refused.error), refused.error
    assert "add protocol=identity_disjoint" not in str(refused.error)


def test_dropped_pairs_leave_the_row_numbers_of_the_file(cell: Any, write_set: Callable[..., Path]) -> None:
    root = write_set(without=3)
    options = (*MINE, *MYNET, f"data_root={root}", "method=ac_linear")
    stopped = cell(*options)
    assert stopped.status == "failed" and "dataset.missing=drop" in stopped.error
    outcome = cell(*options, "dataset.missing=drop")
    frame = pd.read_parquet(outcome.folder / "scores.parquet")
    pairs = pd.read_csv(root / "mine" / "pairs.csv")
    absent = {"p00/0.jpg", "p00/1.jpg", "p01/0.jpg"}
    kept = pairs[~pairs["left"].isin(absent) & ~pairs["right"].isin(absent)]
    assert 0 < len(kept) < len(pairs)
    assert frame["pair"].tolist() == kept.index.tolist()
    assert frame["left"].astype(str).tolist() == kept["left"].tolist()
    assert any("left out" in warning.text for warning in outcome.result.warnings)


def scores_only(root: Path) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    same = np.tile([1, 0], 60)
    pairs = pd.DataFrame(
        {
            "fold": np.repeat(["a", "b", "c"], 40),
            "same": same,
            "vendor": np.clip(0.3 * same + 0.2 * rng.normal(size=120) + 0.1, -1, 1),
            "ethnicity": np.where(np.arange(120) % 4 < 2, "asian", "white"),
        }
    )
    (root / "bank").mkdir(parents=True)
    pairs.to_csv(root / "bank" / "pairs.csv", index=False)
    return pairs


BANK = ("dataset=custom", "dataset.id=bank", "dataset.grouping=[ethnicity]", "backbone=scores", "source=files")


def test_scores_alone_are_enough_for_methods_without_embeddings(cell: Any, tmp_path: Path) -> None:
    pairs = scores_only(tmp_path / "data")
    outcome = cell(*BANK, "backbone.column=vendor", f"data_root={tmp_path / 'data'}", "method=beta")
    assert outcome.status == "completed"
    frame = pd.read_parquet(outcome.folder / "scores.parquet")
    np.testing.assert_allclose(frame["cosine"], pairs["vendor"], atol=1e-12)
    assert frame["fold"].astype(str).tolist() == pairs["fold"].tolist()
    assert outcome.folder.parent.parent.name == "vendor"
    asian = pairs[pairs["ethnicity"] == "asian"]
    by_fold = [roc_auc_score(f["same"], f["vendor"]) for _, f in asian.groupby("fold")]
    assert summary(outcome.result.to_json(), "auroc", "ethnicity", "first", "asian")["mean"] == pytest.approx(
        np.mean(by_fold)
    )


def test_scores_alone_are_not_enough_for_ac_linear(run_py: Any, tmp_path: Path) -> None:
    scores_only(tmp_path / "data")
    done = run_py(*BANK, "backbone.column=vendor", f"data_root={tmp_path / 'data'}", "method=ac_linear", "store=folder")
    assert done.returncode == 1
    assert "ac_linear needs embeddings" in done.stdout and "platt" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    (result,) = results_below(tmp_path / "out")
    assert result["status"] == "failed" and UnmetNeedError.__name__ in result["error"]


# ---- as Hydra's users know it ----------------------------------------------------------------------------------------


def test_a_class_and_a_yaml_of_ones_own_run_like_ours(
    run_py: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "mine" / "method").mkdir(parents=True)
    (tmp_path / "code" / "my_package.py").write_text(
        "from dataclasses import dataclass\nfrom fairfr.methods.platt import Platt\n"
        "@dataclass\nclass Mine(Platt):\n    C: float = 3.0\n"
    )
    (tmp_path / "mine" / "method" / "my_method.yaml").write_text(
        "id: my_method\nlabel: My method\nestimator: {_target_: my_package.Mine}\n"
    )
    arguments = ["method=glob([my*,platt])", "-m", "dataset=lfw", "dataset.standin.scale=0.03", "source=synthetic"]
    monkeypatch.syspath_prepend(tmp_path / "code")
    done = run_py(*arguments, "store=folder", "--config-dir", "mine")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 runs: 2 computed" in done.stdout and "My method" in done.stdout
    assert {result["method"]["id"] for result in results_below(tmp_path / "out")} == {"my_method", "platt"}


def test_imported_data_run_by_their_names(run_py: Any, write_set: Callable[..., Path], tmp_path: Path) -> None:
    write_set(backbone="magface")
    write_set(backbone="mynet")
    grouped = "dataset.grouping=[gender]"
    done = run_py("dataset=mine", "backbone=magface,mynet", "-m", "method=platt", grouped, "store=folder")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mine x MagFace" in done.stdout and "mine x mynet" in done.stdout
    for result in results_below(tmp_path / "out"):
        assert result["source"] == "files"
        assert result["differs"] == {}, "a set without a yaml has no default grouping"


def test_help_speaks_of_choices_and_keys(run_py: Any) -> None:
    done = run_py("--help")
    assert done.returncode == 0 and done.stderr == ""
    for part in ("bfw, custom, lfw, rfw", "ac_cohort, ac_density", "folder, mlflow", "data_root=data", "  -m  "):
        assert part in done.stdout
    assert "usage: fairfr run [-m] " in done.stdout and len(done.stdout.splitlines()) <= 40
    assert max(map(len, done.stdout.splitlines())) <= 80 and done.stdout.endswith("\n\nnext: fairfr tables\n")
    shown = run_py("-c", "job", "method=platt", "seed=4")
    config = yaml.safe_load(shown.stdout)
    assert shown.returncode == 0 and config["method"]["id"] == "platt" and config["seed"] == 4
    refused = run_py("-c", "job", "-m", "method=platt,beta")
    assert refused.returncode == 1 and refused.stdout.count("\n") == 1, "one line"
    assert "leave out -m" in refused.stdout and "hydra.sweeper.dry_run=true" in refused.stdout


def test_the_hint_to_mlflow_names_the_folder(capsys: pytest.CaptureFixture[str]) -> None:
    for out_root, uri in (("outputs", None), ("my runs", None), ("outputs", "http://me:secret@server:5000")):
        mirror = Mirror(StoreSettings("mlflow", uri), Path(out_root))
        Terminal().mlflow_hint(out_root, mirror.uri)
    plain, named, elsewhere = capsys.readouterr().out.splitlines()
    assert "make ui   or   fairfr ui   (" in plain
    assert elsewhere == "MLflow: http://me:***@server:5000"
    assert "make ui OUT='my runs'   or   fairfr ui --out-root 'my runs'" in named


# ---- mistakes ------------------------------------------------------------------------------------------------------

SEEN_BY_RUN_PY = {
    "named place": (["data_root=data", "dataset=lfw"], ["DataError", "data/lfw/images", "source=synthetic"]),
    "question mark": (["out_root=a?b"], ["ConfigError", "out_root=a?b"]),
    "unknown method": (["method=ac_linaer"], ["ConfigError", "unknown method 'ac_linaer'", "Did you mean 'ac_linear'"]),
    "added key": (["+foo=1"], ["ConfigError", "unknown key 'foo'"]),
    "unknown field": (["method=platt", "method.estimator.CC=1"], ["ConfigError", "'method.estimator.CC'", "'C'"]),
    "no id": (["dataset=custom"], ["ConfigError", "'dataset.id' is not set"]),
}


@pytest.mark.parametrize(("arguments", "words"), SEEN_BY_RUN_PY.values(), ids=SEEN_BY_RUN_PY)
def test_a_mistake_gets_one_message_and_a_non_zero_exit_code(
    run_py: Any, tmp_path: Path, arguments: list[str], words: list[str]
) -> None:
    done = run_py(*arguments, "store=folder")
    said = done.stdout + done.stderr
    assert done.returncode == 1
    assert "Traceback" not in said and 'File "' not in said, said
    for word in words:
        assert word in said
    assert not (tmp_path / "out" / "runs").exists()


MISTAKES = {
    "unknown key": (["sed=1"], ["ConfigError", "unknown key 'sed'", "'seed'"]),
    "unknown backbone in a sweep": (["backbone=magface,adafce"], ["ConfigError", "'adafce'", "'adaface'"]),
    "wrong type": (["method=platt", "method.estimator.C=abc"], ["ConfigError", "method.estimator.C", "'abc'"]),
    "unknown nested key": (["dataset.groping=[x]"], ["ConfigError", "'dataset.groping'", "'grouping'"]),
    "wrong choice": (["source=flies"], ["ConfigError", "source=flies", "files"]),
    "no column": (["backbone=scores"], ["ConfigError", "'backbone.column' is not set"]),
    "place without files": (["data_root=nowhere"], ["DataError", "nowhere/rfw/images", "source=synthetic"]),
    "no method chosen": (["method=null"], ["ConfigError", "a run needs a method", "platt"]),
    "method taken away": (["~method"], ["ConfigError", "a run needs a method"]),
    "long id": ([f"method.id={'x' * 300}", *SMALL], ["ConfigError", "method.id=xxx", "200 bytes"]),
    "no references": (["dataset.max_references=0"], ["ConfigError", "dataset.max_references", "at least 1"]),
    "no references of its own": (
        ["method=ac_density", "method.estimator.max_references=0"],
        ["ConfigError", "method.estimator.max_references", "at least 1"],
    ),
    "no pairs in a group": (["dataset.min_pairs=0"], ["ConfigError", "dataset.min_pairs", "at least 1"]),
    "no protocol": (
        ["protocol.splitter._target_=fairfr.methods.platt.Platt"],
        ["ConfigError", "Platt is not a protocol"],
    ),
    "no such folder": (["--config-dir", "nowhere"], ["ConfigError", "nowhere: no such folder"]),
    "no files": (["source=files", "data_root=nowhere"], ["DataError", "nowhere/rfw/images", "not found"]),
    "climbing id": (["dataset=custom", "dataset.id=../x", *MYNET], ["ConfigError", "dataset.id='../x'"]),
    "climbing method": (["method.id=../x", *SMALL], ["ConfigError", "method.id='../x'"]),
    "out of range": (["method=ac_density", "method.estimator.k=0"], ["ConfigError", "method.estimator.k"]),
    "no such class": (["method.estimator._target_=fairfr.methods.platt.Plat"], ["ConfigError", "Plat"]),
    "no method": (["method.estimator={_target_: fairfr.core.types.FoldSplit}"], ["ConfigError", "method.estimator"]),
    "threads": (["threads=two"], ["ConfigError", "threads"]),
    "seed": (["seed=true"], ["ConfigError", "seed must be a whole number"]),
    "synthetic scores": (
        ["backbone=scores", "backbone.column=x", "source=synthetic"],
        ["ConfigError", "column"],
    ),
}


@pytest.mark.parametrize(("arguments", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_before_anything_is_written(
    cell: Any, tmp_path: Path, arguments: list[str], words: list[str]
) -> None:
    with pytest.raises(FairfrError) as caught:
        cell(*prepare(arguments, CONF))
    for word in words:
        assert word in f"{type(caught.value).__name__}: {caught.value}"
    assert not (tmp_path / "out").exists()


def test_choices_that_only_hydra_understands_are_left_to_it() -> None:
    sweep = ["-m", "method=glob(*)", "dataset=rfw,bfw", "hydra/launcher=joblib", "~experiment"]
    more = ["method=choice(platt,beta)", "hydra.job.chdir=false", "backbone=${oc.env:NET}", "store@x=folder"]
    assert prepare([*sweep, *more], CONF) == [*sweep, *more]
    with pytest.raises(ConfigError, match=r"no viable alternative at input '\[a'"):
        prepare(["method=[a", "sed=1"], CONF)
    with pytest.raises(ConfigError, match=r"http://me:\*\*\*@server\["):
        prepare(["store.tracking_uri=http://me:s3cret@server["], CONF)
    nested = ["dataset.standin.scale=0.1", "+dataset.x.y=1", "++method.estimator.k=1"]
    assert prepare(nested, CONF) == nested, "as typed"


def test_broken_file_is_a_stored_failure_that_names_it(cell: Any, write_set: Callable[..., Path]) -> None:
    root = write_set()
    path = root / "mine" / "pairs.csv"
    path.write_text(path.read_text().replace("p00/1.jpg", "nobody.jpg", 1))
    outcome = cell(*MINE, *MYNET, f"data_root={root}", "method=platt")
    assert outcome.status == "failed" and DataError.__name__ in outcome.error
    assert "pairs.csv" in outcome.error and "nobody.jpg" in outcome.error
    assert {p.name for p in outcome.folder.iterdir()} == {"result.json", "config.yaml", "run.log", "error.txt"}
    assert "Traceback" in (outcome.folder / "error.txt").read_text()
    assert json.loads((outcome.folder / "result.json").read_text())["error"] == outcome.error


# ---- the code behind a result --------------------------------------------------------------------------------------


MINE_METHOD = """
from dataclasses import dataclass
from fairfr.core.types import Prediction
@dataclass
class Mine:
    needs = frozenset()
    native_probability = False
    def fit(self, view, same, ctx):
        return self
    def predict(self, view):
        return Prediction(score=view.cosine * 1.0)
"""


def test_an_edited_method_runs_anew_and_a_comment_does_not(
    cell: Any, small: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "edited_method.py"
    monkeypatch.syspath_prepend(tmp_path)
    run = (*small, "method=baseline", "method.id=mine", "method.estimator._target_=edited_method.Mine")

    def again(text: str) -> str:
        file.write_text(text)
        sys.modules.pop("edited_method", None)
        importlib.invalidate_caches()
        code_digest.cache_clear()
        return str(cell(*run).status)

    assert again(MINE_METHOD) == "completed"
    assert again(MINE_METHOD) == "skipped"
    assert again(f"# a comment\n{MINE_METHOD}") == "skipped"
    assert again(MINE_METHOD.replace("1.0", "2.0")) == "completed"
    assert len(results_below(tmp_path / "out")) == 2


MY_LAZY = """
from dataclasses import dataclass
from fairfr.methods.baseline import Baseline

@dataclass
class Mine(Baseline):
    imports = ("my_library",)

    def fit(self, view, same, ctx):
        import my_library
        return super().fit(view, same, ctx)
"""


def test_what_a_method_imports_is_imported_before_threads_start_and_only_to_compute(
    cell: Any, small: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lazy_method.py").write_text(MY_LAZY, encoding="utf-8")
    library = "import threading\nimported_in = threading.current_thread()\n"
    (tmp_path / "my_library.py").write_text(library, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    run = (*small, "method=baseline", "method.id=mine", "method.estimator._target_=lazy_method.Mine", "threads=2")
    assert cell(*run).status == "completed"
    assert sys.modules.pop("my_library").imported_in is threading.current_thread()
    assert cell(*run).status == "skipped"
    assert "my_library" not in sys.modules
    monkeypatch.delitem(sys.modules, "lazy_method")


@pytest.mark.parametrize("name", ["scores.parquet", "metrics.parquet", "result.json"])
def test_a_damaged_run_is_said_and_computed_anew(cell: Any, heard: Any, small: tuple[str, ...], name: str) -> None:
    first = cell(*small, "method=platt")
    path = first.folder / name
    path.write_bytes(path.read_bytes()[:-10])
    heard.warnings.clear()
    again = cell(*small, "method=platt")
    assert again.status == "completed" and again.folder == first.folder
    assert heard.warnings[0].code == "damaged-run"
    assert name in heard.warnings[0].text and "computed again" in heard.warnings[0].text
    assert cell(*small, "method=platt").status == "skipped"
