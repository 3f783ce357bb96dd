"""What a comparison shows: differences and thresholds against the arrays' own numbers, figures and text."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, roc_auc_score

import fairfr
from fairfr.comparing.compared_methods import ComparedMethods

pytestmark = pytest.mark.filterwarnings("ignore::fairfr.FairfrWarning")
METHODS = {"beta": fairfr.Beta(), "My oracle": fairfr.Oracle(), "ac_hinge": fairfr.ACHinge()}


@pytest.fixture(scope="module")
def found(faces: Any) -> ComparedMethods:
    return fairfr.compare(METHODS, *faces.arrays, folds=3, **faces.known)


@pytest.fixture(autouse=True)
def _no_window() -> None:
    mpl.use("agg")


def test_frame_is_tidy(found: ComparedMethods) -> None:
    frame = found.frame()
    assert list(dict.fromkeys(frame["method"])) == list(METHODS)
    assert (frame["label"] == frame["method"]).all() and frame["current"].all()
    few = found.frame(metrics=["brier"], groups=["all"])
    scores = found.scores()
    pooled = dict(zip(few["method"], few["pooled"], strict=True))
    for name in METHODS:
        assert pooled[name] == pytest.approx(brier_score_loss(scores["same"], scores[name]))
    with pytest.raises(fairfr.ConfigError, match="auroc"):
        found.frame(metrics=["aurok"])


def test_differences_are_of_the_pooled_numbers(found: ComparedMethods, faces: Any) -> None:
    differences = found.differences(against="beta", draws=50)
    assert set(differences["method"]) == {"My oracle", "ac_hinge"} and set(differences["against"]) == {"beta"}
    rows = differences.set_index(["method", "metric", "group"])
    scores = found.scores()
    both = faces.group[faces.pairs]
    women = (both == "f").all(axis=1)
    for name in ("My oracle", "ac_hinge"):
        auroc = rows.loc[(name, "auroc", "all")]
        assert auroc["value"] == pytest.approx(roc_auc_score(scores["same"], found.runs[name].score))
        assert auroc["difference"] == pytest.approx(auroc["value"] - auroc["reference"])
        assert auroc["low"] <= auroc["high"] and auroc["verdict"] in ("better", "worse", "equal", "undetermined")
        brier = rows.loc[(name, "brier", "f")]
        assert brier["value"] == pytest.approx(brier_score_loss(scores["same"][women], scores[name][women]))
        assert brier["verdict"] == ""
        worst = rows.loc[(name, "fpr_at_fpr_1e-2", "worst")]
        groups = [rows.loc[(name, "fpr_at_fpr_1e-2", group)]["value"] for group in ("f", "m")]
        assert worst["value"] == max(groups)
        own = [rows.loc[(name, "tpr_at_own_fpr_1e-2", group)]["value"] for group in ("f", "m")]
        assert rows.loc[(name, "own_eo_gap_at_fpr_1e-2", "gap")]["value"] == pytest.approx(max(own) - min(own))


def test_a_verdict_is_that_of_its_band_in_the_units_of_its_row(found: ComparedMethods) -> None:
    judged = found.differences(draws=60).query("verdict != ''")
    assert len(judged) == 2 * 4
    for row in judged.itertuples():
        middle = (row.band_low + row.band_high) / 2
        assert middle == pytest.approx(row.difference, abs=1e-12), (row.metric, row.group)
        assert row.band_high - row.band_low >= (row.high - row.low) * 0.8


def test_the_same_method_twice_is_equal(faces: Any) -> None:
    twice = fairfr.compare({"a": fairfr.Beta(), "b": fairfr.Beta()}, *faces.arrays, identities=faces.who, folds=3)
    rows = twice.differences(draws=50).set_index(["metric", "group"])
    for metric in ("brier", "auroc"):
        assert rows.loc[(metric, "all")]["verdict"] == "equal" and rows.loc[(metric, "all")]["difference"] == 0


def test_threshold_has_the_wanted_rate(found: ComparedMethods, faces: Any) -> None:
    kept = found.threshold("ac_hinge", fmr=0.02)
    assert kept.value is not None
    probability = found.scores()["ac_hinge"].to_numpy()
    impostors = probability[~faces.same]
    assert (impostors >= kept.value).mean() <= 0.02 < (impostors >= np.nextafter(kept.value, 0)).mean() + 1 / 500
    assert kept.confident is None or kept.confident >= kept.value
    assert f"accept where probability >= {kept.value:.6g}" in str(kept) and "3 folds" in str(kept)
    assert "no model is saved: fit one on all pairs" in str(kept) and "the saved model" not in str(kept)
    with pytest.raises(fairfr.ConfigError, match="Did you mean 'beta'"):
        found.threshold("betta", fmr=0.01)
    for fmr in (0, 1, -0.1, [0.01, 0.001], "1e-3", float("nan")):
        with pytest.raises(fairfr.ConfigError, match=r"fmr=.* must be a number between 0 and 1, such as 1e-3"):
            found.threshold("beta", fmr=fmr)
    with pytest.raises(fairfr.ConfigError, match=r"confidence=0\.2: must be a number between 0\.5 and 1"):
        found.threshold("beta", fmr=0.01, confidence=0.2)
    with pytest.raises(fairfr.ConfigError, match="on='prob' is not one of probability, score"):
        found.threshold("beta", fmr=0.01, on="prob")  # type: ignore[arg-type]
    for draws in (0, 1.5, True, "300"):
        with pytest.raises(fairfr.ConfigError, match=r"draws=.* must be a whole number, at least 1"):
            found.differences(draws=draws)  # type: ignore[arg-type]


def test_figures_draw_into_axes_that_are_given_or_new(found: ComparedMethods) -> None:
    from matplotlib import pyplot

    new = found.reliability()
    assert [axes.get_title() for axes in new] == list(METHODS)
    axes = pyplot.figure().add_subplot()
    assert found.reliability(axes, methods=["beta"])[0] is axes
    assert found.reliability(methods="beta")[0].get_title() == "beta"
    with pytest.raises(fairfr.ConfigError, match="2 are needed, found 1"):
        found.reliability(axes, methods=["beta", "ac_hinge"])
    panels = found.fmr_by_group()
    assert [label.get_text() for label in panels[0].get_yticklabels()] == list(METHODS)
    pyplot.close("all")


def test_figures_without_groups_say_what_is_missing(faces: Any) -> None:
    found = fairfr.compare({"beta": fairfr.Beta()}, *faces.arrays, folds=3)
    with pytest.raises(fairfr.DataError, match="need groups"):
        found.fmr_by_group()
    assert "undetermined" not in str(found), "one method alone is compared with none"


def test_print_shows_the_table_and_the_sentences(found: ComparedMethods) -> None:
    text = str(found)
    lines = text.splitlines()
    assert lines[0] == "arrays x embeddings"
    assert lines[1] == "mean over 3 held-out folds, strict convention"
    for name in ("beta", "My oracle†", "ac_hinge"):
        assert sum(line.startswith(name) for line in lines) >= 1
    assert "ac_hinge against beta: " in text and "beta. Not ac_hinge" in text
    assert repr(found) == "<fairfr comparison of beta, My oracle, ac_hinge: 4,315 pairs, 3 folds; print() shows it>"


def test_advice_is_about_methods_with_default_parameters(faces: Any) -> None:
    named = {"score only": fairfr.Beta(), "hinge": fairfr.ACHinge(), "C=9": fairfr.ACLinear(C=9)}
    found = fairfr.compare(named, *faces.arrays, folds=3, **faces.known)
    assert found.ids == {"score only": "beta", "hinge": "ac_hinge", "C=9": "C=9"}
    assert "hinge against score only" in str(found)


BARE = """
import sys
from importlib.abc import MetaPathFinder

class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
        return None

sys.meta_path.insert(0, Absent())
import numpy as np
import fairfr
rng = np.random.default_rng(0)
same = rng.random(3000) < 0.5
cosine = np.clip(rng.normal(0.3 * same, 0.15), -1, 1)
groups = {{"sex": np.where(rng.random(3000) < 0.5, "f", "m")}}
found = fairfr.compare({{"beta": fairfr.Beta(), "platt": fairfr.Platt()}}, cosine=cosine, same=same, groups=groups)
assert "platt against beta" in str(found), str(found)
assert "accept where" in str(found.threshold("beta", fmr=0.01))
needs = (("frame", "files", "pandas"), ("scores", "files", "pandas"), ("differences", "files", "pandas"))
for asked, extra, package in (*needs, ("reliability", "run", "matplotlib"), ("fmr_by_group", "run", "matplotlib")):
    try:
        getattr(found, asked)()
    except fairfr.MissingExtraError as error:
        advice = f"pip install 'fairfr[{{extra}}]' ({{package}} is missing)"
        assert str(error) == f"compare(...).{{asked}} needs the extra: {{advice}}", error
    else:
        raise AssertionError(asked)
"""


def test_the_bare_package_compares_and_asks_for_what_frames_and_figures_need(tmp_path: Path) -> None:
    blocked = {"pandas", "pyarrow", "rich", "filelock", "matplotlib", "hydra", "mlflow", "torch", "jinja2", "omegaconf"}
    program = BARE.format(blocked=repr(blocked))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, cwd=Path(__file__).parents[3]
    )
    assert done.returncode == 0, done.stderr
