"""Whole pages of a made world of runs, from outside: what is typed, and what then stands on pages and screens.

The numbers are made up. When a page is meant to look different: ``pytest tests/golden/test_made_world.py
--update-golden``, and read the diff.
"""

from __future__ import annotations

import difflib
import gc
import io
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_world import world, write_world
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.console import Console

from fairfr.commands import tables
from fairfr.core.run_result import RunResult
from fairfr.core.types import MetricRow
from fairfr.store.parquet_files import write_metrics
from fairfr.sweep.mlflow_metrics import listed_metrics
from fairfr.sweep.terminal import results_table

GOLDEN = Path(__file__).with_name("world")
OPTIONS = {"usual": (), "strict": ("--reading", "strict"), "seed": ("--where", "seed=1")}
DIGITS = 6


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the run folders of the world in ``outputs``."""
    folder = tmp_path_factory.mktemp("world")
    write_world(folder / "outputs")
    return folder


@pytest.fixture
def show(made: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """``show("--where", "seed=1")``: what the command prints, then every page that it writes, by its folder."""
    monkeypatch.chdir(made)

    def run(*arguments: str) -> dict[str, str]:
        monkeypatch.setattr(sys, "argv", ["fairfr tables", *arguments])
        try:
            tables.main()
        finally:
            gc.enable()
        pages = {"printed": capsys.readouterr().out}
        for line in pages["printed"].splitlines():
            if line.startswith("tables: "):
                folder = Path(line.split()[1]).parent
                name = "_".join(folder.parts[-2:])
                pages[name] = (folder / "index.md").read_text(encoding="utf-8")
        return pages

    return run


@pytest.fixture
def compare(request: pytest.FixtureRequest) -> Any:
    """``compare(name, text)``: with the golden file, which ``--update-golden`` writes."""
    update = bool(request.config.getoption("--update-golden"))

    def look(name: str, text: str) -> None:
        path = GOLDEN / name
        if update:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), f"{name} differs"

    return look


@pytest.mark.parametrize("name", OPTIONS)
def test_pages(name: str, show: Any, compare: Any) -> None:
    """Tables, notes, commands for missing runs, studies and claims, and what the command prints."""
    for page, text in show("--no-figures", *OPTIONS[name]).items():
        compare(f"{name}_{page}.md", text)


def test_pages_with_a_variant(show: Any, compare: Any) -> None:
    """The lines that differ from the pages without it."""
    usual = show("--no-figures")
    lines: list[str] = []
    for page, text in show("--no-figures", "--where", "k=500").items():
        before = usual[page].splitlines()
        changed = difflib.unified_diff(before, text.splitlines(), page, page, lineterm="", n=0)
        lines += [line for line in changed if not line.startswith("@@")]
    compare("variant.diff", "\n".join(lines) + "\n")


def test_data_of_figures(show: Any, compare: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is drawn where, and what stands beside it; how it looks is for eyes."""
    drawn: dict[str, Any] = {}

    def record(figure: Figure, path: Path, **options: Any) -> None:
        if path.suffix == ".png":
            drawn["/".join(path.parts[-3:])] = _data_of(figure)
        path.write_bytes(b"")

    monkeypatch.setattr(Figure, "savefig", record)
    show()
    compare("figures.json", json.dumps({name: drawn[name] for name in sorted(drawn)}, indent=1, ensure_ascii=False))


def _data_of(figure: Figure) -> dict[str, Any]:
    words = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    title = figure.get_suptitle()
    return {"title": title, "legend": words, "panels": [_panel(axes) for axes in figure.axes if axes.get_visible()]}


def _panel(axes: Axes) -> dict[str, Any]:
    lines = []
    for line in axes.get_lines():
        points = np.round(np.asarray(line.get_xydata(), dtype=np.float64), DIGITS)
        text = " ".join(f"{x:g},{y:g}" for x, y in points)
        lines.append(f"{line.get_color()} {line.get_markerfacecolor()}: {text}")
    rows = [label.get_text() for label in axes.get_yticklabels()]
    words = [axes.get_title(), axes.get_xlabel(), axes.get_ylabel(), *axes.get_legend_handles_labels()[1]]
    return {"words": words, "rows": rows, "lines": lines}


@pytest.mark.parametrize("width", [80, 120])
def test_terminal(width: int, compare: Any) -> None:
    """The table that a sweep prints, of one setting with variants and of a setting without groups."""
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    for dataset, source in (("rfw", "synthetic"), ("mine", "files"), ("plain", "files")):
        console.print(results_table(_results(dataset, source), width=width))
    assert isinstance(console.file, io.StringIO)
    compare(f"terminal_{width}.txt", console.file.getvalue())


def _results(dataset: str, source: str) -> list[RunResult]:
    backbones = ("magface", "mynet")
    every = [one for one in world() if one.dataset.id == dataset and one.source == source and not one.study]
    return [one for one in every if one.backbone.id in backbones]


def test_metrics_of_mlflow(compare: Any, tmp_path: Path) -> None:
    """Names and values, by step, of a method with a probability of its own and of one without."""
    said = {}
    for dataset, method in (("rfw", "ac_density"), ("rfw", "baseline"), ("mine", "ac_linear"), ("plain", "beta")):
        result = next(one for one in _of(dataset, method) if not one.differs)
        write_metrics(tmp_path / "metrics.parquet", _by_fold(result))
        said[f"{dataset} {method}"] = listed_metrics(result, tmp_path)
    compare("mlflow.json", json.dumps(said, indent=1))


def _of(dataset: str, method: str) -> Iterator[RunResult]:
    return (one for one in world() if (one.dataset.id, one.method.id) == (dataset, method) and not one.study)


def _by_fold(result: RunResult) -> Sequence[MetricRow]:
    """Two folds, equally far from the mean on both sides."""
    assert result.metrics is not None
    rows = []
    for row in result.metrics:
        place = (row["grouping"], row["rule"], row["group"], row["metric"])
        if row["mean"] is not None:
            rows += [MetricRow(str(fold), *place, row["mean"] + 0.01 * sign, 1, 1) for fold, sign in enumerate((-1, 1))]
    return rows
