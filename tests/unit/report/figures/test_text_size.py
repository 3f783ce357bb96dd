"""Names of any length are shown whole, also in a figure with a single line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from made_runs import change, in_reading, results_of
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from fairfr.report.figures import draw
from fairfr.report.figures.curves import Curve, change_figure, curve_figure
from fairfr.report.figures.text_size import wrapped
from fairfr.report.uncertainty.setting_bootstrap import Change
from fairfr.stored.reading import STRICT

LONG_SET = "my_celebrities_in_several_lights_and_age"
LONG_LABEL = "AC-Hinge of the second laboratory (C=10)"


def shown_texts(figure: Figure) -> Iterator[Text]:
    """Titles, legends and the labels of rows; of axes with numbers, matplotlib leaves out those that do not fit."""
    if figure.get_suptitle():
        yield figure._suptitle  # type: ignore[attr-defined]
    for legend in figure.legends:
        yield from (legend.get_title(), *legend.get_texts())
    for axes in figure.axes:
        yield axes.title
        yield from axes.get_yticklabels()


def assert_nothing_is_cut_off(figure: Figure) -> None:
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    width, height = figure.bbox.size
    for text in shown_texts(figure):
        box = text.get_window_extent(canvas.get_renderer())
        if text.get_text() and text.get_visible():
            inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= width + 1 and box.y1 <= height + 1
            assert inside, f"{text.get_text()!r} is cut off"
    for axes in figure.axes:
        assert_apart(axes, figure, canvas)


def assert_apart(axes: Axes, figure: Figure, canvas: FigureCanvasAgg) -> None:
    """A panel has room, and its title does not reach into that of the figure."""
    assert axes.get_window_extent().height > 10
    above = figure._suptitle  # type: ignore[attr-defined]
    if above is not None and axes.title.get_text():
        renderer = canvas.get_renderer()
        assert axes.title.get_window_extent(renderer).y1 <= above.get_window_extent(renderer).y0


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> dict[str, Figure]:
    """The figures by the names of their files; these are written as well, and a warning is an error."""
    figures: dict[str, Figure] = {}
    write = draw.save

    def save(figure: Figure, stem: Path) -> list[Path]:
        figures[stem.name] = figure
        return write(figure, stem)

    monkeypatch.setattr(draw, "save", save)
    return figures


@pytest.mark.parametrize("source", ["files", "synthetic"])
@pytest.mark.parametrize("methods", [("beta",), ("baseline", "beta", "ac_hinge", "ac_density", "mine")])
def test_long_names_are_shown_whole(
    fake_run: Any, tmp_path: Path, drawn: dict[str, Figure], source: Any, methods: tuple[str, ...]
) -> None:
    runs = [fake_run(method, source=source, n_pairs=4000, dataset=LONG_SET) for method in methods]
    for run in runs[1:] or runs:
        label = LONG_LABEL[: -len(run.result.method.id)] + run.result.method.id
        change(run, method={**run.result.to_json()["method"], "label": label})
    if "mine" in methods:
        change(runs[-1], identity={"method": {"estimator": {"_target_": "my_package.Mine"}}})
    draw.draw_figures(in_reading(results_of(runs, source), STRICT), tmp_path)
    assert {"worst_group_auroc", f"fmr_by_group_{LONG_SET}_facenet"} <= drawn.keys()
    assert ("mine" in methods) == any(name.endswith("facenet_mine") for name in drawn)
    for figure in drawn.values():
        assert_nothing_is_cut_off(figure)


def test_a_single_run_of_a_stand_in_has_figures_with_room(
    fake_run: Any, tmp_path: Path, drawn: dict[str, Figure]
) -> None:
    draw.draw_figures(in_reading(results_of([fake_run("platt")], "synthetic"), STRICT), tmp_path)
    assert_nothing_is_cut_off(drawn["worst_group_auroc"])


def test_long_names_are_shown_whole_beside_and_above_curves_and_changes() -> None:
    results = results_of([], "synthetic")
    curve = Curve(LONG_LABEL, (1.0, 2.0), (0.8, 0.9), (0.0, 0.0))
    curves = curve_figure({f"{LONG_SET} x {LONG_SET}": [curve]}, "x", "y", results)
    changes = change_figure(
        {f"{LONG_SET} x {LONG_SET}": {"AUROC": {LONG_LABEL: Change(0.8, 0.9, 0.0, 0.2)}}}, "synthetic"
    )
    for figure in (curves, changes):
        assert figure is not None
        assert_nothing_is_cut_off(figure)


def test_wrapped_text_keeps_its_words_and_lines() -> None:
    text = "one two three four\nfive"
    assert wrapped(text, 10, 8) == text
    assert wrapped(text, 0.7, 8).split() == text.split()
    assert wrapped(text, 0.7, 8).count("\n") > 1
    assert wrapped("$x$", 10, 8) == r"\$x\$"
