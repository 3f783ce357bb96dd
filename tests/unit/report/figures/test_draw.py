"""Figures are written, say what they show, and bin as they claim."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_runs import change, in_reading, results_of, run_of
from matplotlib.figure import Figure

from fairfr.core.text import escape_mathtext
from fairfr.report.figures.draw import SHIPPED, draw_figures, save
from fairfr.report.figures.overview import overview_figure
from fairfr.report.figures.reliability import equal_mass_bins, reliability_figure
from fairfr.stored.reading import PAPER_READING, STRICT
from fairfr.stored.run import Run
from fairfr.stored.scores import RunScores

ROOT = Path(__file__).parents[4]


def names(paths: list[Path]) -> list[str]:
    return [path.name for path in paths]


def test_figures_are_written_as_png_and_pdf(fake_run: Any, tmp_path: Path) -> None:
    runs = results_of([fake_run(method) for method in ("baseline", "beta", "ac_density")], "synthetic")
    written = draw_figures(in_reading(runs, PAPER_READING), tmp_path / "new" / "figures")
    assert names(written) == [
        "reliability_rfw_facenet.png",
        "reliability_rfw_facenet.pdf",
        "worst_group_auroc.png",
        "worst_group_auroc.pdf",
    ]
    for path in written:
        start = path.read_bytes()[:8]
        assert start == b"\x89PNG\r\n\x1a\n" if path.suffix == ".png" else start.startswith(b"%PDF")
        assert path.stat().st_size > 5000


@pytest.mark.parametrize("methods", [("mine",), ("baseline",), ("baseline", "mine"), ("baseline", "beta", "mine")])
def test_few_methods_have_room_in_the_overview(fake_run: Any, tmp_path: Path, methods: tuple[str, ...]) -> None:
    runs = results_of([fake_run(method) for method in methods], "synthetic")
    figure = overview_figure(in_reading(runs, STRICT))
    assert figure is not None
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # matplotlib's, of panels without any height
        save(figure, tmp_path / "overview")
    for axes in figure.axes:
        assert axes.get_window_extent().height / figure.dpi > 0.1 * len(methods)  # inches: a dot for each


def test_drawing_leaves_matplotlib_as_it_was(fake_run: Any, tmp_path: Path) -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    draw_figures(
        in_reading(results_of([fake_run("platt"), fake_run("ac_linear")], "synthetic"), STRICT),
        tmp_path / "figures",
    )
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize(
    ("methods", "wanted"),
    [
        (("platt", "ac_linear"), ["Platt", "Ac_Linear"]),
        (("platt", "beta", "ac_linear", "ac_density"), ["Beta", "Ac_Density"]),
    ],
)
def test_beta_and_density_are_preferred(
    fake_run: Any, methods: Any, wanted: Any, monkeypatch: Any, tmp_path: Path
) -> None:
    chosen: list[str] = []

    def note(score_only: RunScores, adaptive: RunScores) -> Any:
        chosen.extend(scores.run.result.method.label for scores in (score_only, adaptive))
        return Figure(figsize=(1, 1))

    monkeypatch.setattr("fairfr.report.figures.draw.reliability_figure", note)
    monkeypatch.setattr("fairfr.report.figures.draw.overview_figure", lambda layout: None)
    draw_figures(
        in_reading(results_of([fake_run(method) for method in methods], "synthetic"), PAPER_READING),
        tmp_path / "figures",
    )
    assert chosen == wanted


def test_what_cannot_be_drawn_is_left_out(fake_run: Any, tmp_path: Path) -> None:
    beta, density = fake_run("beta"), fake_run("ac_density")
    only_results = results_of([Run(beta.result), Run(density.result)], "synthetic")
    assert names(draw_figures(in_reading(only_results, PAPER_READING), tmp_path / "a")) == [
        "worst_group_auroc.png",
        "worst_group_auroc.pdf",
    ]
    without_groups = run_of({**beta.result.to_json(), "data": {**beta.result.to_json()["data"], "grouping": None}})
    assert draw_figures(in_reading(results_of([without_groups], "synthetic"), PAPER_READING), tmp_path / "b") == []
    assert draw_figures(in_reading(results_of([], "synthetic"), PAPER_READING), tmp_path / "c") == []


@pytest.mark.parametrize(("source", "said"), [("synthetic", True), ("files", False)])
def test_titles_name_reading_and_stand_in(fake_run: Any, source: Any, said: bool) -> None:
    beta, density = fake_run("beta", source=source), fake_run("ac_density", source=source)
    reliability = reliability_figure(RunScores(beta), RunScores(density)).get_suptitle()
    overview = overview_figure(in_reading(results_of([density], source), STRICT))
    assert overview is not None and "RFW x FaceNet" in reliability
    for title in (reliability, overview.get_suptitle()):
        assert "strict convention" in title and ("synthetic" in title.lower()) == said
        assert ("Some figures are fitted to the paper" in title) == said


def test_the_overview_marks_group_aware_methods(fake_run: Any) -> None:
    figure = overview_figure(
        in_reading(results_of([fake_run("baseline"), fake_run("gst_paper")], "synthetic"), PAPER_READING)
    )
    assert figure is not None
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["Baseline", "GST†"]
    dots = {line.get_ydata()[0]: line.get_markerfacecolor() for line in axes.lines if line.get_marker() == "o"}
    assert dots[1] == "white" and dots[0] != "white"


@pytest.mark.parametrize("methods", [("baseline", "platt"), ("platt", "beta")])
def test_the_legend_names_the_baseline_only_where_it_has_run(fake_run: Any, methods: tuple[str, ...]) -> None:
    runs = [fake_run(method) for method in methods]
    figure = overview_figure(in_reading(results_of(runs, "synthetic"), STRICT))
    assert figure is not None
    named = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert ("Baseline" in named) == ("baseline" in methods)


def test_the_overview_has_every_method_that_has_run_and_no_empty_row(fake_run: Any) -> None:
    runs = [
        fake_run("baseline"),
        fake_run("platt"),
        fake_run("baseline", dataset="lfw"),
        fake_run("fsn", dataset="lfw"),
    ]
    figure = overview_figure(in_reading(results_of(runs, "synthetic"), PAPER_READING))
    assert figure is not None
    shown = [[text.get_text() for text in axes.get_yticklabels()] for axes in figure.axes]
    assert shown == [["Baseline", "Platt"], ["Baseline", "FSN"]]


def test_no_panel_shows_values_that_cannot_be(fake_run: Any) -> None:
    near_one, wide = fake_run("baseline", noise=0.05), fake_run("platt", noise=1.5)
    change(wide, backbone={"id": "other", "label": "Other"})
    figure = overview_figure(in_reading(results_of([near_one, wide], "synthetic"), PAPER_READING))
    assert figure is not None
    limits = [axes.get_xlim() for axes in figure.axes]
    assert len(limits) == 2 and max(high for _, high in limits) < 1.05
    assert limits[0][1] - limits[0][0] == pytest.approx(limits[1][1] - limits[1][0]), "one scale"


@pytest.mark.parametrize("noise", [0.05, 0.4, 1.5])
def test_axes_have_at_least_three_ticks(fake_run: Any, noise: float) -> None:
    runs = results_of([fake_run(m, noise=noise) for m in ("baseline", "beta", "ac_density")], "synthetic")
    figures = [
        overview_figure(in_reading(runs, PAPER_READING)),
        reliability_figure(*(RunScores(runs.find({"method": m})) for m in ("beta", "ac_density"))),
    ]
    for axes in (axes for figure in figures if figure is not None for axes in figure.axes):
        low, high = axes.get_xlim()
        assert sum(low <= tick <= high for tick in axes.get_xticks()) >= 3


def test_every_group_has_a_curve_and_a_legend_entry(fake_run: Any) -> None:
    figure = reliability_figure(
        RunScores(fake_run("beta").read(PAPER_READING)), RunScores(fake_run("ac_density").read(PAPER_READING))
    )
    entries = [text.get_text() for text in figure.legends[0].get_texts()]
    assert [entry.partition(" (")[0] for entry in entries] == ["one", "two parts", "three"]


def test_bins_hold_equally_many_pairs_and_their_means() -> None:
    rng = np.random.default_rng(0)
    probability = rng.random(100)
    same = rng.random(100) < probability
    bins = equal_mass_bins(same, probability, 4)
    parts = np.array_split(np.argsort(probability), 4)
    assert bins.pairs.tolist() == [25] * 4
    np.testing.assert_allclose(bins.predicted, [probability[part].mean() for part in parts])
    np.testing.assert_allclose(bins.observed, [same[part].mean() for part in parts])


def test_equal_probabilities_share_a_bin() -> None:
    probability = np.array([0.0] * 6 + [1.0] * 4)
    same = np.array([False, True] * 5)
    bins = equal_mass_bins(same, probability, 5)
    assert bins.pairs.tolist() == [6, 4] and bins.observed.tolist() == [0.5, 0.5]


def test_a_set_of_small_groups_has_no_reliability_figure_and_says_so(
    fake_run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("fairfr.report.figures.reliability.FEWEST_PAIRS", 601)  # the set has 600 pairs
    runs = results_of([fake_run(method) for method in ("beta", "ac_density")], "synthetic")
    assert names(draw_figures(in_reading(runs, PAPER_READING), tmp_path / "figures")) == [
        "worst_group_auroc.png",
        "worst_group_auroc.pdf",
    ]
    assert "RFW x FaceNet" in caplog.text and "no group has" in caplog.text


@pytest.mark.parametrize("name", [r"$\foo$", r"\$x$"])
def test_names_are_not_formulas(fake_run: Any, tmp_path: Path, name: str) -> None:
    runs = [fake_run(method, groups={"kind": ["one", "two_parts", name]}) for method in ("beta", "ac_density")]
    for run in runs:
        for noun in ("dataset", "backbone", "method"):
            change(run, **{noun: {**run.result.to_json()[noun], "label": name}})
    written = draw_figures(in_reading(results_of(runs, "synthetic"), PAPER_READING), tmp_path / "figures")
    assert len(written) == 4


@pytest.mark.parametrize("name", [r"$\foo$", "a$b", r"\$x$", "$$", "a_{b}^", "plain"])
def test_what_is_drawn_is_the_name(name: str) -> None:
    from matplotlib.text import Text

    text = Text(0, 0, escape_mathtext(name))
    assert text._preprocess_math(text.get_text()) == (name, False)


def test_a_user_s_method_has_a_reliability_figure_of_its_own(fake_run: Any, tmp_path: Path) -> None:
    own = fake_run("mine")
    change(own, identity={"method": {"estimator": {"_target_": "my_package.Mine"}}})
    ours = fake_run("ac_linear")
    change(ours, identity={"method": {"estimator": {"_target_": "fairfr.methods.ac_linear.ACLinear"}}})
    alone = {
        path.stem for path in draw_figures(in_reading(results_of([own, ours], "synthetic"), STRICT), tmp_path / "alone")
    }
    assert "reliability_rfw_facenet_mine" in alone and "reliability_rfw_facenet_ac_linear" not in alone
    beside = {
        path.name
        for path in draw_figures(
            in_reading(results_of([own, ours, fake_run("beta")], "synthetic"), STRICT), tmp_path / "b"
        )
    }
    assert {"reliability_rfw_facenet_mine.png", "reliability_rfw_facenet.png"} <= beside
    without_groups = fake_run("other", grouping=None, groups={})
    change(without_groups, identity={"method": {"estimator": {"_target_": "my_package.Other"}}})
    drawn = draw_figures(in_reading(results_of([without_groups], "synthetic"), STRICT), tmp_path / "c")
    assert {path.name for path in drawn} == {"reliability_rfw_facenet_other.png", "reliability_rfw_facenet_other.pdf"}


def test_the_methods_that_count_as_fairfr_s_are_those_of_conf() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "conf" / "method").rglob("*.yaml"))
    assert set(re.findall(r"_target_: (fairfr\.methods\.\w+\.\w+)", text)) == SHIPPED
