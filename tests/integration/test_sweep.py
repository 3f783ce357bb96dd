"""Sweeps: each cell on its own, one summary, a failure that is stored and ends in exit code 1."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.types import RunMode
from omegaconf import OmegaConf

from fairfr.core.config import from_mapping
from fairfr.data.locate import locate
from fairfr.data.settings import BackboneSettings, DatasetSettings
from fairfr.paper.order import BEYOND, SETTINGS
from fairfr.store.sweep_record import stored_sweeps
from fairfr.sweep.grids import GridExpander

pytestmark = pytest.mark.slow
CONF = Path(__file__).parents[2] / "conf"


BANK = (
    "dataset=custom",
    "dataset.id=bank",
    "backbone=scores",
    "backbone.column=vendor",
    "source=files",
    "store=folder",
)


def write_bank(tmp_path: Path) -> None:
    """A scores-only set: 90 pairs, 3 folds, no embeddings."""
    folder = tmp_path / "data" / "bank"
    folder.mkdir(parents=True)
    rows = [f"{i % 3},{i % 2},{0.2 * (i % 2) + 0.01 * (i % 37):.3f}" for i in range(90)]
    (folder / "pairs.csv").write_text("\n".join(["fold,same,vendor", *rows]) + "\n")


def stored(out: Path) -> dict[str, dict[str, Any]]:
    found = [json.loads(path.read_text()) for path in out.glob("runs/*/*/*/*/result.json")]
    return {result["method"]["id"]: result for result in found}


def test_a_failing_cell_is_stored_and_shown_while_the_others_complete(run_py: Any, tmp_path: Path) -> None:
    """The same scores-only set, with a method that can run on it and one that cannot; then again."""
    write_bank(tmp_path)
    sweep = ["-m", *BANK, "method=ac_linear,platt", f"data_root={tmp_path / 'data'}"]
    done = run_py(*sweep)
    said = done.stdout + done.stderr
    assert done.returncode == 1 and "Traceback" not in said, said
    assert "2 runs: 1 computed, 0 already done, 1 failed" in done.stdout
    assert done.stdout.count("ac_linear needs embeddings") == 2, "when it happens, and in the summary"
    results = stored(tmp_path / "out")
    assert {name: result["status"] for name, result in results.items()} == {"ac_linear": "failed", "platt": "completed"}
    (failed,) = (tmp_path / "out" / "runs" / "bank" / "vendor" / "ac_linear").iterdir()
    assert "Traceback" in (failed / "error.txt").read_text() and not (failed / "scores.parquet").exists()

    (completed,) = (tmp_path / "out" / "runs" / "bank" / "vendor" / "platt").iterdir()
    before = (completed / "result.json").stat().st_mtime_ns
    again = run_py(*sweep)
    assert again.returncode == 1
    assert "2 runs: 0 computed, 1 already done, 1 failed" in again.stdout
    assert (completed / "result.json").stat().st_mtime_ns == before


def test_two_sweeps_of_one_name_do_not_mix(run_py: Any, tmp_path: Path) -> None:
    """As two have that begin within one tick of the clock."""
    write_bank(tmp_path)
    folder = tmp_path / "out" / "hydra" / "sweep" / "day" / "second"
    mine = ["-m", *BANK, f"data_root={tmp_path / 'data'}", f"hydra.sweep.dir={folder}"]
    first = run_py(*mine, "method=platt,beta,baseline")
    second = run_py(*mine, "method=platt,isotonic")
    assert "3 runs: 3 computed, 0 already done, 0 failed" in first.stdout
    assert "2 runs: 1 computed, 1 already done, 0 failed" in second.stdout
    found = stored_sweeps(tmp_path / "out")
    assert [[outcome.status for outcome in outcomes] for _, outcomes in found] == [
        ["completed", "completed", "completed"],
        ["skipped", "completed"],
    ]


LEAVING = """
import sys
from dataclasses import dataclass
from fairfr.methods.baseline import Baseline

@dataclass
class Fit(Baseline):
    def fit(self, view, same, ctx):
        sys.exit(0)

@dataclass
class Predict(Baseline):
    def predict(self, view):
        raise GeneratorExit("odd")

@dataclass
class Healthy(Baseline):
    pass
"""


@pytest.mark.parametrize("sweeper", ["fairfr", "basic"])
def test_a_method_that_leaves_the_program_costs_its_own_cell(
    run_py: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sweeper: str
) -> None:
    """In its fit, its prediction, or when it is imported; with exit code 0, which would be that of the sweep."""
    write_bank(tmp_path)
    (tmp_path / "leaving.py").write_text(LEAVING)
    (tmp_path / "leaving_at_once.py").write_text("import sys\nsys.exit()\n")
    monkeypatch.syspath_prepend(tmp_path)
    targets = "leaving.Fit,leaving.Predict,leaving_at_once.Mine,leaving.Healthy"
    mine = [*BANK, "method=baseline", "method.id=mine", f"data_root={tmp_path / 'data'}", "on_error=continue"]
    done = run_py("-m", *mine, f"method.estimator._target_={targets}", f"hydra/sweeper={sweeper}")
    assert "the method called sys.exit(0)" in done.stdout and "GeneratorExit: odd" in done.stdout, done.stdout
    assert "leaving_at_once.Mine calls sys.exit(None)" in done.stdout
    found = [json.loads(path.read_text()) for path in (tmp_path / "out").glob("runs/*/*/*/*/result.json")]
    assert sorted(result["status"] for result in found) == ["completed", "failed", "failed"]
    if sweeper == "fairfr":
        assert done.returncode == 1 and "4 runs: 1 computed, 0 already done, 3 failed" in done.stdout
    alone = run_py(*mine, "method.estimator._target_=leaving.Fit")
    assert alone.returncode == 1 and "the method called sys.exit(0)" in alone.stdout


def test_on_error_stop_ends_the_sweep_at_the_first_failure(run_py: Any, tmp_path: Path) -> None:
    done = run_py("-m", "dataset=lfw,rfw", "source=files", "data_root=nowhere", "on_error=stop", "store=folder")
    assert done.returncode == 1 and "Traceback" not in done.stdout + done.stderr
    assert "nowhere/lfw" in done.stdout and "nowhere/rfw" not in done.stdout
    assert "2 runs: 0 computed, 0 already done, 1 failed, 1 not run" in done.stdout
    assert "dataset=rfw: did not start" in done.stdout


def test_a_mistake_in_a_single_run_is_told_without_a_traceback_file(run_py: Any, tmp_path: Path) -> None:
    write_bank(tmp_path)
    done = run_py(*BANK, "method=ac_linear", f"data_root={tmp_path / 'data'}")
    assert done.returncode == 1 and "ac_linear needs embeddings" in done.stdout
    assert "error.txt" not in done.stdout


def test_a_sweep_over_nested_keys_makes_a_run_for_each_value(run_py: Any, tmp_path: Path) -> None:
    sweep = ["-m", "dataset=lfw", "dataset.standin.scale=0.03", "source=synthetic", "store=folder"]
    done = run_py(*sweep, "method=platt", "method.estimator.C=0.1,1.0")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 runs: 2 computed, 0 already done, 0 failed" in done.stdout and "synthetic" in done.stdout
    assert len(list((tmp_path / "out").glob("runs/lfw/magface/platt/synthetic-*/result.json"))) == 2
    (folder,) = (tmp_path / "out" / "hydra" / "sweep").glob("*/*")
    assert {"0", "1", "sweep.json"} <= {path.name for path in folder.iterdir()}, "jobs and parent share a folder"
    assert re.fullmatch(r"\d\d-\d\d-\d\d-\d{6}", folder.name), "two sweeps in one second do not"


@pytest.mark.parametrize("path", sorted((CONF / "experiment").glob("*.yaml")), ids=lambda path: path.stem)
def test_a_named_experiment_is_always_a_sweep(path: Path) -> None:
    with initialize_config_dir(config_dir=str(CONF), version_base="1.3"):
        config = compose("config", overrides=[f"experiment={path.stem}"], return_hydra_config=True)
    assert config.hydra.mode.name == "MULTIRUN"
    sweeper = config.hydra.sweeper
    assert sweeper.params or sweeper.grids or sweeper.experiments
    opening = path.read_text().partition("\nhydra:")[0]
    assert f"python run.py -m experiment={path.stem}\n" in opening, "says the command that runs it"


def jobs_of(experiment: str) -> list[dict[str, str]]:
    with initialize_config_dir(config_dir=str(CONF), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        config = loader.load_configuration("config", [f"experiment={experiment}"], RunMode.MULTIRUN)
        jobs = GridExpander(loader, config).jobs(config, list(config.hydra.overrides.task))
    return [dict(override.split("=", 1) for override in job) for job in jobs]


def test_the_headline_sweep_is_every_method_of_the_paper_on_nine_settings() -> None:
    jobs = jobs_of("headline")
    cells = {(job["dataset"], job["backbone"], job["method"]) for job in jobs}
    assert len(cells) == len(jobs)
    methods = {path.stem for path in (CONF / "method").glob("*.yaml")} - set(BEYOND)
    settings = [(d, b) for d in ("rfw", "bfw", "lfw") for b in ("arcface_r100", "adaface", "magface")]
    assert cells == {(d, b, m) for d, b in settings for m in methods}


def test_the_appendix_sweep_is_the_16_settings_of_the_papers_tables() -> None:
    own = [job for job in jobs_of("appendix") if job["experiment"] == "appendix"]
    found = {(job["dataset"], job["backbone"]) for job in own}
    assert found == {tuple(pair) for pair in SETTINGS} and len(found) == 16


def test_every_data_set_and_backbone_of_a_study_makes_its_set() -> None:
    pairs = {(job["dataset"], job["backbone"]) for job in jobs_of("everything") if "dataset" in job}
    assert ("study/lfw_degraded", "magface") in pairs
    for chosen in sorted(pairs):
        names = [f"dataset={chosen[0]}", f"backbone={chosen[1]}", "+dataset.standin.scale=0.02"]
        with initialize_config_dir(config_dir=str(CONF), version_base="1.3"):
            config = compose("config", overrides=names)
        dataset = from_mapping(DatasetSettings, OmegaConf.to_container(config.dataset, resolve=True))
        backbone = from_mapping(BackboneSettings, OmegaConf.to_container(config.backbone, resolve=True))
        made = locate(dataset, backbone, Path("nowhere"), "synthetic").load()
        assert made.backbone == backbone.id and made.embeddings is not None
        assert np.isfinite(made.embeddings.vectors).all()
