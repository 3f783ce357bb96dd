"""The fit of a stand-in to the raw cosine's error rates, at small size."""

from __future__ import annotations

import importlib.util
from dataclasses import astuple, replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import yaml
from sklearn.metrics import roc_auc_score, roc_curve

from fairfr.core.conform import build
from fairfr.core.errors import ConfigError
from fairfr.data.settings import DatasetSettings
from fairfr.data.synthetic import BackboneModel, generate
from fairfr.experiment.standin_fit import Effort, Figures, Goal, baseline_figures, fit_model, mean_figures, variant

ROOT = Path(__file__).parents[3]
TOLERANCE = Figures(0.005, 0.015, 0.06, 0.05, 0.01)
MODEL = BackboneModel(effective_dims=40.0, noise=1.0, noise_spread=0.35, hard_share=0.02, gap=0.2)


@pytest.fixture(scope="module")
def small() -> DatasetSettings:
    """RFW with a twelfth of its people, and one backbone."""
    dataset = build(DatasetSettings, yaml.safe_load((ROOT / "conf" / "dataset" / "rfw.yaml").read_text()))
    assert dataset.standin is not None
    return replace(dataset, standin=replace(dataset.standin, scale=0.08, backbones={"net": MODEL}))


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fit_standin", ROOT / "scripts" / "fit_standin.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_figures_are_fold_means_as_scikit_learn_has_them(small: DatasetSettings) -> None:
    assert small.standin is not None
    data = generate("rfw", "net", small.standin, small.grouping)
    assert data.embeddings is not None
    vectors, group = data.embeddings.vectors.astype(np.float64), data.groupings["ethnicity"].codes[data.pairs.left]
    cosine = np.sum(vectors[data.pairs.left] * vectors[data.pairs.right], axis=1)
    each = []
    for fold in range(10):
        at = data.fold == fold
        fpr, tpr, _ = roc_curve(data.same[at], cosine[at], drop_intermediate=False)
        members = [at & (group == g) for g in range(4)]
        worst = min(roc_auc_score(data.same[m], cosine[m]) for m in members)
        brier = max(np.mean((np.clip(cosine[m], 0, 1) - data.same[m]) ** 2) for m in members)
        each.append((roc_auc_score(data.same[at], cosine[at]), worst, np.interp(1e-3, fpr, tpr), brier))
    figures = baseline_figures(small, "net")
    got = (figures.auroc, figures.worst_auroc, figures.tpr, figures.worst_brier)
    np.testing.assert_allclose(got, np.mean(each, axis=0), rtol=1e-9)
    assert 0 < figures.worst_tpr < figures.tpr


def test_a_share_of_the_pairs_gives_nearly_the_same(small: DatasetSettings) -> None:
    whole, half = baseline_figures(small, "net"), baseline_figures(small, "net", share=0.5)
    assert half != whole
    assert half.auroc == pytest.approx(whole.auroc, abs=0.03)


def test_the_mean_is_over_the_seeds(small: DatasetSettings) -> None:
    each = [baseline_figures(variant(small, "net", MODEL, seed), "net") for seed in (1, 2)]
    assert each[0] != each[1]
    np.testing.assert_allclose(mean_figures(small, "net", MODEL, Effort(seeds=(1, 2))), np.mean(each, axis=0))


def test_misses_count_in_tolerances() -> None:
    goal = Goal(Figures(0.9, 0.8, 0.5, 0.4, 0.1), TOLERANCE)
    np.testing.assert_allclose(goal.misses(Figures(0.905, 0.77, 0.5, 0.4, 0.1)), [1, -2, 0, 0, 0], atol=1e-9)


def test_a_fit_finds_back_the_figures_of_other_numbers(small: DatasetSettings) -> None:
    assert small.standin is not None
    effort = Effort(seeds=(1,), steps=6)
    goal = Goal(mean_figures(small, "net", MODEL, effort), TOLERANCE)
    away = BackboneModel(effective_dims=30.0, noise=1.1, noise_spread=0.3, hard_share=0.03, gap=0.25)
    before = goal.misses(mean_figures(small, "net", away, effort))
    start = variant(small, "net", away, small.standin.seed)
    fitted = fit_model(start, "net", goal, effort)
    after = goal.misses(mean_figures(small, "net", fitted, effort))
    assert np.abs(before).max() > 2  # the start misses, so that the fit has something to do
    assert np.abs(after).max() < 1
    assert all(number == float(f"{number:.4g}") for number in astuple(fitted))
    assert fit_model(start, "net", goal, effort) == fitted


def test_a_stand_in_without_groups_is_not_fitted(small: DatasetSettings) -> None:
    with pytest.raises(ConfigError, match=r"rfw.*dataset\.grouping"):
        baseline_figures(replace(small, grouping=()), "net")


def test_the_script_has_a_goal_for_every_setting(script: ModuleType) -> None:
    for name in script.SETS:
        dataset = build(DatasetSettings, yaml.safe_load((ROOT / "conf" / "dataset" / f"{name}.yaml").read_text()))
        assert dataset.standin is not None
        for backbone in dataset.standin.backbones:
            wanted = script.goal_of(name, backbone).wanted
            assert wanted.worst_auroc < wanted.auroc
            assert wanted.worst_tpr < wanted.tpr
    assert script.goal_of("rfw", "magface").wanted == Figures(0.956, 0.941, 0.496, 0.445, 0.179)


def test_the_script_writes_one_line_and_leaves_the_rest(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "conf" / "dataset" / "rfw.yaml"
    path.parent.mkdir(parents=True)
    before = (ROOT / "conf" / "dataset" / "rfw.yaml").read_text().splitlines()
    path.write_text("\n".join(before) + "\n")
    monkeypatch.setattr(script, "ROOT", tmp_path)
    script.write("rfw", "magface", MODEL)
    after = path.read_text().splitlines()
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert len(changed) == 1
    assert changed[0][0].startswith("    magface: {")
    settings = build(DatasetSettings, yaml.safe_load(path.read_text()))
    assert settings.standin is not None
    assert settings.standin.backbones["magface"] == MODEL


def test_the_script_says_what_is_reached_beside_what_is_wanted(
    script: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = "rfw magface --check --scale 0.05 --seeds 1-2"
    monkeypatch.setattr("sys.argv", ["fit_standin.py", *arguments.split()])
    script.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line[2:11].strip() for line in lines[2:]] == ["wanted", "seed 1", "seed 2", "mean", "sd"]
    assert "  auroc 0.9560  worst_auroc 0.9410  tpr 0.4960" in lines[2]
    assert all("side" in line for line in lines[3:6])
