"""MLflow mirrors the run folders: once for each key, with the same numbers, and never at their expense."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlparse
from urllib.request import url2pathname

import pandas as pd
import pytest

from fairfr.commands.sync import sync
from fairfr.core.run_result import RunResult
from fairfr.store.mlflow.client import MlflowError, default_uri, read_results, ui_pages
from fairfr.store.mlflow.log import MlflowWriter
from fairfr.store.settings import StoreSettings
from fairfr.sweep.mirror import Mirror
from fairfr.sweep.mlflow_metrics import describe_run, listed_metrics

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


def runs_in(out: Path) -> list[Any]:
    from mlflow.tracking import MlflowClient

    client = MlflowClient(default_uri(out))
    experiment = client.get_experiment_by_name("fairfr")
    assert experiment is not None and experiment.tags["mlflow.experimentKind"] == "custom_model_development"
    return list(client.search_runs([experiment.experiment_id]))


def artifacts_of(out: Path, run_id: str) -> set[str]:
    from mlflow.tracking import MlflowClient

    return {artifact.path for artifact in MlflowClient(default_uri(out)).list_artifacts(run_id)}


def shown(value: float | None) -> float:
    """A number on the page, which prints all digits that it gets: six significant ones."""
    assert value is not None
    return float(f"{value:.6g}")


def check_numbers(out: Path, run: Any, folder: Path, result: dict[str, Any]) -> None:
    """Platt has a probability of its own, so the paper's reading ranks by it."""
    from mlflow.tracking import MlflowClient

    means = {(r["grouping"], r["rule"], r["group"], r["metric"]): r["mean"] for r in result["metrics"]}
    logged, grouping = run.data.metrics, result["data"]["grouping"]
    assert logged["strict/auroc"] == shown(means["all", "all", "all", "auroc"])
    assert logged["paper/worst_auroc"] == shown(means[grouping, "first", "worst", "auroc_on_probability"])
    assert logged["worst_auroc"] == logged["paper/worst_auroc"]
    assert logged["strict/worst_brier"] == shown(means[grouping, "both", "worst", "brier"])
    gap = means[grouping, "both", "gap", "eo_gap_at_fpr_1e-2"]
    assert logged["strict/eo_gap_at_fpr_1e-2"] == pytest.approx(gap / 100, rel=1e-5), "fractions"
    assert logged["group/strict/brier/white_male"] == shown(means[grouping, "both", "white_male", "brier"])
    assert not any("nan" in str(value) for value in logged.values()), "an undefined number is left out"
    assert logged["seconds"] == shown(result["seconds"])
    prefixes = {name.partition("/")[0] for name in logged if "/" in name}
    assert prefixes == {"paper", "strict", "fold", "group"}
    headline = {prefix + name for name in ("auroc", "brier", "tpr_at_fpr_1e-3") for prefix in ("", "worst_")}
    assert {name for name in logged if "/" not in name} == headline | {"seconds", "peak_memory_mb"}
    history = MlflowClient(default_uri(out)).get_metric_history(run.info.run_id, "fold/strict/auroc")
    table = pd.read_parquet(folder / "metrics.parquet").query("grouping == 'all' and metric == 'auroc'")
    by_fold = dict(zip(table["fold"], map(shown, table["value"]), strict=True))
    assert {str(value.step): value.value for value in history} | {"pooled": by_fold["pooled"]} == by_fold


def test_a_run_is_logged_once_with_the_numbers_of_its_folder(
    cell: Any, small: tuple[str, ...], out: Path, store: StoreSettings
) -> None:
    outcome = cell(*small, "dataset.min_pairs=2", "method=platt", "method.estimator.C=0.5", "seed=4")
    mirror = Mirror(store, out)
    mirror.bring(outcome.folder)
    assert mirror.finish() is None
    (run,) = runs_in(out)
    check_numbers(out, run, outcome.folder, outcome.result.to_json())
    assert run.info.status == "FINISHED"
    assert "Platt" in run.info.run_name and "synthetic" in run.info.run_name
    tags = {"run_key": outcome.result.key, "source": "synthetic", "status": "completed", "threads": "1"}
    tags |= {"dataset": "lfw", "backbone": "magface", "method": "platt", "run_folder": str(outcome.folder)}
    assert tags.items() <= run.data.tags.items()
    assert {"method.estimator.C": "0.5", "seed": "4", "dataset.id": "lfw"}.items() <= run.data.params.items()
    (data,) = run.inputs.dataset_inputs
    assert data.dataset.name == "lfw x magface (synthetic)"
    assert outcome.result.data.digest.startswith(data.dataset.digest)
    assert "SYNTHETIC" in run.data.tags["mlflow.note.content"] and "180 pairs" in run.data.tags["mlflow.note.content"]
    small_files = {"result.json", "config.yaml", "metrics.parquet", "run.log", "reliability.png"}
    assert artifacts_of(out, run.info.run_id) == small_files, "scores stay in the run folder"

    MlflowWriter(store, out).log_run(outcome.folder, describe_run)
    (replaced,) = runs_in(out)
    assert replaced.info.run_id != run.info.run_id and replaced.data.metrics == run.data.metrics


def test_links_in_a_run_folder_are_not_uploaded(
    cell: Any, small: tuple[str, ...], out: Path, writer: MlflowWriter, tmp_path: Path
) -> None:
    folder = cell(*small, "dataset.grouping=[]", "method=baseline").folder
    (tmp_path / "secret").write_text("secret")
    (folder / "run.log").unlink()
    (folder / "run.log").symlink_to(tmp_path / "secret")
    os.mkfifo(folder / "error.txt")
    writer.log_run(folder, describe_run)
    (run,) = runs_in(out)
    uploaded = artifacts_of(out, run.info.run_id)
    assert uploaded == {"result.json", "config.yaml", "metrics.parquet", "reliability.png"}


def test_a_damaged_result_in_mlflow_is_left_out_and_named(
    cell: Any, small: tuple[str, ...], out: Path, writer: MlflowWriter
) -> None:
    for method in ("platt", "baseline"):
        writer.log_run(cell(*small, "dataset.grouping=[]", f"method={method}").folder, describe_run)
    (run,) = [run for run in runs_in(out) if run.data.tags["method"] == "platt"]
    logged = Path(url2pathname(urlparse(run.info.artifact_uri).path)) / "result.json"
    logged.write_bytes(logged.read_bytes().replace(b'"status": "completed"', b'"status": "completes"'))
    lines: list[str] = []
    (left,) = read_results(default_uri(out), on_damage=lines.append)
    assert left.method.id == "baseline"
    assert len(lines) == 1 and "Platt" in lines[0] and "cut short or edited" in lines[0]


def results_below(out: Path) -> list[dict[str, Any]]:
    found = [json.loads(path.read_text()) for path in sorted((out / "runs").glob("*/*/*/*/result.json"))]
    return [{name: value for name, value in stored.items() if name != "seal"} for stored in found]


def results_in(out: Path) -> list[dict[str, Any]]:
    return [json.loads(json.dumps(result.to_json())) for result in read_results(default_uri(out))]


def test_results_read_back_from_mlflow_are_those_of_the_run_folders_also_after_a_rebuild(
    cell: Any, small: tuple[str, ...], out: Path, store: StoreSettings, writer: MlflowWriter, template: Path
) -> None:
    for method in ("platt", "baseline"):
        outcome = cell(*small, "dataset.min_pairs=2", f"method={method}")
        writer.log_run(outcome.folder, describe_run)
    cell(*small, "dataset.min_pairs=2", "method=platt", "seed=1")
    stored = results_below(out)
    known = [result for result in stored if result["seed"] == 0]
    assert len(known) == 2 and results_in(out) == known
    assert "1 runs logged, 2 were there" in sync(Mirror(store, out))
    before = {run.info.run_id: run.data.metrics for run in runs_in(out)}
    assert len(before) == 3 and results_in(out) == stored

    shutil.copy(template, out / "mlflow.db")
    assert results_in(out) == []
    assert "3 runs logged, 0 were there" in sync(Mirror(store, out))
    assert "0 runs logged, 3 were there" in sync(Mirror(store, out))
    after = {run.info.run_id: run.data.metrics for run in runs_in(out)}
    assert not before.keys() & after.keys()
    assert sorted(map(str, after.values())) == sorted(map(str, before.values()))
    assert results_in(out) == stored
    on_page = {run.data.metrics["paper/worst_auroc"] for run in runs_in(out)}
    assert on_page <= {
        shown(listed_metrics(RunResult.from_json(result), out)["paper/worst_auroc"][0]) for result in stored
    }


def test_reading_from_a_store_without_runs_is_an_mlflow_error(tmp_path: Path, out: Path) -> None:
    with pytest.raises(MlflowError, match=r"gone\.db does not exist"):
        read_results(f"sqlite:///{tmp_path / 'gone.db'}")
    assert not (tmp_path / "gone.db").exists()
    with pytest.raises(MlflowError, match="no experiment 'other'"):
        read_results(default_uri(out), "other")


@pytest.mark.launcher
def test_sweeps_are_parents_of_their_cells_and_share_those_they_have_in_common(
    run_py: Any, small: tuple[str, ...], out: Path
) -> None:
    """The second sweep runs in two other processes and meets a cell of the first one."""
    first = ("-m", *small, "method=baseline,platt")
    done = run_py(*first)
    assert done.returncode == 0 and done.stderr == "", done.stdout + done.stderr
    ((parent, children),) = families(out)
    assert parent.info.run_name == "sweep | synthetic | lfw | magface | 2 runs" and parent.info.status == "FINISHED"
    assert parent.data.metrics["sweep/cells"] == 2 and parent.data.metrics["sweep/failed"] == 0
    assert children == {"baseline", "platt"}
    assert {"cells.csv", "tables", "figures"} <= artifacts_of(out, parent.info.run_id)

    beside = run_py("-m", *small, "method=platt,beta", "hydra/launcher=joblib", "hydra.launcher.n_jobs=2")
    assert beside.returncode == 0, beside.stdout + beside.stderr
    runs = {run.data.tags["method"]: run for run in runs_in(out) if "run_key" in run.data.tags}
    assert len(runs_in(out)) == 5 and runs.keys() == {"baseline", "platt", "beta"}, "nothing is logged twice"
    (second,) = (found for found, cells in families(out) if cells == {"beta"})
    assert runs["platt"].data.tags["mlflow.parentRunId"] == parent.info.run_id
    ids = [parent.data.tags["sweep_id"], second.data.tags["sweep_id"]]
    assert runs["platt"].data.tags["sweeps"] == ", ".join(ids) and runs["beta"].data.tags["sweeps"] == ids[1]
    listed = ui_pages(default_uri(out))
    assert any(ids[1] in page for _, page in listed), "the newest sweep"
    assert any("tables/synthetic/paper/index.html" in page for _, page in listed), "read as its setting"
    assert listed[0][0] == "synthetic stand-ins" and "own data" not in dict(listed), "views that have runs"

    assert run_py(*first).returncode == 0
    assert len(runs_in(out)) == 5, "the same command is the same sweep"


def families(out: Path) -> list[tuple[Any, set[str]]]:
    """Parent runs, and the methods of their children."""
    runs = runs_in(out)
    parents = [run for run in runs if "sweep_id" in run.data.tags]
    return [
        (
            parent,
            {run.data.tags["method"] for run in runs if run.data.tags.get("mlflow.parentRunId") == parent.info.run_id},
        )
        for parent in parents
    ]


def test_a_sweep_that_mlflow_refuses_is_computed_and_says_so_once(run_py: Any, small: tuple[str, ...]) -> None:
    done = run_py("-m", *small, "method=baseline,platt", "store.tracking_uri=nonsense://nowhere")
    assert done.returncode == 3 and "Traceback" not in done.stdout + done.stderr
    assert "2 runs: 2 computed, 0 already done, 0 failed" in done.stdout
    assert done.stdout.count("MlflowError") == 1 and "the numbers are safe" in done.stdout
    assert (
        "python scripts/sync_mlflow.py --out-root" in done.stdout and "--tracking-uri nonsense://nowhere" in done.stdout
    )


def test_a_failed_run_is_logged_as_failed(
    cell: Any, small: tuple[str, ...], out: Path, writer: MlflowWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fairfr.methods.platt import Platt

    def fit(*arguments: Any) -> None:
        raise RuntimeError("no luck")

    monkeypatch.setattr(Platt, "fit", fit)
    outcome = cell(*small, "method=platt")
    writer.log_run(outcome.folder, describe_run)
    (run,) = runs_in(out)
    assert run.info.status == "FAILED" and "no luck" in run.data.tags["error"]
    assert "error.txt" in artifacts_of(out, run.info.run_id)


@pytest.mark.parametrize("sweep", [(), ("-m",)], ids=["run", "sweep"])
def test_what_is_missing_in_mlflow_the_same_command_brings(
    run_py: Any, small: tuple[str, ...], out: Path, template: Path, sweep: tuple[str, ...]
) -> None:
    """A first pass without MLflow; then another database, as after one that was lost."""
    command = (*sweep, *small, "method=baseline", "dataset.grouping=[ethnicity]")
    assert run_py(*command, "store=folder").returncode == 0
    numbers = []
    for _ in range(2):
        done = run_py(*command)
        assert done.returncode == 0 and "already done" in done.stdout and done.stderr == "", done.stdout + done.stderr
        cells = [run for run in runs_in(out) if "run_key" in run.data.tags]
        numbers += [run.data.metrics for run in cells]
        assert len(cells) == 1 and len(runs_in(out)) == 1 + len(sweep)
        assert [cells for _, cells in families(out)] == [{"baseline"}] * len(sweep)
        shutil.copy(template, out / "mlflow.db")
    assert numbers[0] == numbers[1]


KILLED_IN_LOGGING = """
import os, sys
from pathlib import Path
import hydra
import fairfr.sweep
from fairfr.store.mlflow.log import MlflowWriter

MlflowWriter._log_dataset = lambda *rest: os.kill(os.getpid(), 9)  # in the middle of a run
conf = Path({root!r}) / "conf"
sys.argv[0] = str(conf.parent / "run.py")
main = hydra.main(version_base="1.3", config_path=str(conf), config_name="config")(fairfr.sweep.run_job)
fairfr.sweep.guarded(main, sys.argv[1:], conf)
"""


@pytest.mark.kill
def test_what_a_kill_cut_short_in_mlflow_the_same_command_finishes(
    run_py: Any, small: tuple[str, ...], out: Path
) -> None:
    command = ("-m", *small, "dataset.grouping=[]", "method=baseline,platt", "threads=1")
    script = [sys.executable, "-c", KILLED_IN_LOGGING.format(root=str(ROOT)), *command]
    died = subprocess.run([*script, f"out_root={out}"], capture_output=True, text=True, timeout=300)
    assert died.returncode == -signal.SIGKILL, died.stdout + died.stderr
    assert {run.info.status for run in runs_in(out)} == {"RUNNING"}, "the sweep, and a half of its first cell"
    done = run_py(*command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {run.info.status for run in runs_in(out)} == {"FINISHED"} and len(runs_in(out)) == 3
    assert [cells for _, cells in families(out)] == [{"baseline", "platt"}]


class NoMlflow:
    """Finds MLflow, says so, and fails to import it; goes before all other finders of modules."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] == "mlflow":
            self.asked.append(name)
            raise ImportError("no MLflow")


def test_mlflow_is_imported_only_for_what_it_lacks(
    run_py: Any, write_set: Any, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither for a mistake before there is a run, nor for a run or sweep that is done and there."""
    mine = ("dataset=mine", "backbone=mynet", "method=platt", "threads=1")
    write_set()
    sweep = ("-m", *mine, "seed=2,3")
    for command in (mine, sweep):
        assert run_py(*command).returncode == 0
    for name in [name for name in sys.modules if name.partition(".")[0] == "mlflow"]:
        monkeypatch.delitem(sys.modules, name)
    finder = NoMlflow()
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    for command in (mine, sweep, (*mine, "seed=2")):
        done = run_py(*command)
        assert done.returncode == 0 and "already done" in done.stdout, command
    mistake = run_py("-m", *mine, "backbone=custom", "backbone.id=gone")
    assert mistake.returncode == 1 and "1 failed" in mistake.stdout, mistake.stdout
    assert finder.asked == []
    run_py(*mine, "seed=1", "store=folder")
    missing = run_py(*mine, "seed=1")
    assert missing.returncode == 3 and "no MLflow" in missing.stdout, missing.stdout + missing.stderr
    assert finder.asked and "the numbers are safe" in missing.stdout


def test_mlflow_out_of_reach_costs_the_exit_code_but_not_the_run(
    run_py: Any, small: tuple[str, ...], tmp_path: Path
) -> None:
    done = run_py(*small, "method=baseline", "store.tracking_uri=nonsense://nowhere")
    said = done.stdout + done.stderr
    assert done.returncode == 3 and "Traceback" not in said
    assert "MlflowError" in said and "nonsense://nowhere" in said and "the numbers are safe" in said
    (folder,) = (tmp_path / "out").glob("runs/*/*/*/*")
    assert '"status": "completed"' in (folder / "result.json").read_text()
