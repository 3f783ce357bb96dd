"""fairfr tables, on runs just made."""

from __future__ import annotations

import csv
import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fairfr.stored.reading import READINGS
from fairfr.stored.run import Run
from fairfr.stored.runs import read_runs

pytestmark = pytest.mark.slow


@pytest.fixture
def make_tables(command: Callable, tmp_path: Path) -> Callable:
    return lambda *arguments: command("tables", "--out-root", tmp_path / "out", *arguments)


def printed(path: Path, row: str) -> dict[str, str]:
    """A row of a table's csv file, by column."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return next(found for found in csv.DictReader(lines) if found["Method"] == row)


def test_tables_show_the_stored_numbers_in_both_readings(
    cell: Callable, small: tuple[str, ...], make_tables: Callable, tmp_path: Path
) -> None:
    outcomes = {
        m: cell(*small, "backbone=magface", f"method={m}") for m in ("baseline", "ac_linear", "gst", "gst_paper")
    }
    for reading, gst in (("paper", "gst_paper"), ("strict", "gst")):
        done = make_tables("--reading", reading, "--no-figures")
        assert done.returncode == 0, done.stderr
        folder = tmp_path / "out" / "tables" / "synthetic" / reading
        assert str(folder / "index.html") in done.stdout
        for method, row in (("baseline", "Baseline"), ("ac_linear", "AC-Linear"), (gst, "GST†")):
            mean = Run(outcomes[method].result, reading=READINGS[reading]).mean("auroc")
            assert printed(folder / "appendix_auroc.csv", row)["LFW MagFace"] == f"{mean:.3f}"
        for form in ("tex", "md", "html", "csv"):
            text = (folder / f"table1_tpr.{form}").read_text(encoding="utf-8")
            assert "SYNTHETIC stand-in, not faces" in text and f"{reading.capitalize()} convention" in text
        index = (folder / "index.html").read_text(encoding="utf-8")
        assert all(f'id="{id}"' in index for id in ("table1_tpr", "claims", "appendix_summary_lfw_magface"))
        assert (folder / "index.md").exists() and (folder / "all.tex").exists()


def test_real_and_synthetic_runs_have_folders_of_their_own(
    cell: Callable, small: tuple[str, ...], write_set: Callable, make_tables: Callable, tmp_path: Path
) -> None:
    cell(*small, "backbone=magface", "method=baseline")
    own = ("dataset=custom", "dataset.id=mine", "dataset.grouping=[ethnicity]", "backbone=custom", "backbone.id=mynet")
    cell(*own, f"data_root={write_set()}", "method=baseline")
    done = make_tables("--no-figures")
    assert done.returncode == 0, done.stderr
    tables = tmp_path / "out" / "tables"
    assert sorted(str(path.relative_to(tables)) for path in tables.glob("*/*")) == ["files/strict", "synthetic/paper"]
    assert not (tables / "files" / "strict" / "appendix_summary_lfw_magface.md").exists()
    mine = (tables / "files" / "strict" / "appendix_summary_mine_mynet.md").read_text(encoding="utf-8")
    assert "SYNTHETIC" not in mine and "| Baseline | " in mine and "Strict convention" in mine
    assert not (tables / "synthetic" / "paper" / "appendix_summary_mine_mynet.md").exists()


def test_results_are_read_whole_although_their_metrics_come_last(
    cell: Callable, small: tuple[str, ...], tmp_path: Path
) -> None:
    outcome = cell(*small, "backbone=magface", "method=platt")
    stored = json.loads((outcome.folder / "result.json").read_text(encoding="utf-8"))
    (read,), damaged = read_runs(tmp_path / "out")
    assert damaged == []
    assert stored.pop("seal") and stored == json.loads(json.dumps(read.result.to_json()))
    assert read.folder == outcome.folder
    for row in stored["metrics"]:
        if row["group"] == "worst" and row["rule"] == "both" and row["grouping"] == stored["data"]["grouping"]:
            number = read.number(row["metric"], "worst")
            assert (
                number is not None
                and number._asdict().items() >= {k: row[k] for k in ("mean", "std", "pooled")}.items()
            )


def _without_command_for_scores(page: str) -> list[str]:
    """The lines, but for the command that needs scores: these are in run folders alone."""
    return [line for line in page.splitlines() if line and "in sentences and with intervals" not in line]


def test_mlflow_gives_the_same_tables_as_the_run_folders(
    run_py: Callable, small: tuple[str, ...], make_tables: Callable, tmp_path: Path
) -> None:
    sweep = run_py("-m", *small, "backbone=magface", "method=baseline,ac_linear,gst_paper")
    assert sweep.returncode == 0, sweep.stdout
    tables = tmp_path / "out" / "tables"
    read = {}
    for source in ("runs", "mlflow"):
        done = make_tables("--no-figures", "--source", source, "--where", "standin.scale=0.03")
        assert done.returncode == 0, done.stderr
        read[source] = {}
        for path in tables.rglob("*.*"):
            if path.name != "index.html":
                read[source][path.name] = _without_command_for_scores(path.read_text(encoding="utf-8"))
        shutil.rmtree(tables)
    assert len(read["runs"]) > 50 and read["mlflow"] == read["runs"]


@pytest.mark.launcher
def test_a_variant_never_takes_the_place_of_the_default(
    run_py: Callable, small: tuple[str, ...], make_tables: Callable, tmp_path: Path
) -> None:
    """What was typed on the command line is what tables and labels go by, also in a worker's process."""
    sweep = ("-m", *small, "store=folder", "method=ac_density", "method.estimator.alpha=1.0,1e6", "seed=0,1")
    done = run_py(*sweep, "hydra/launcher=joblib")
    assert done.returncode == 0, done.stdout + done.stderr
    for label in ("AC-Density ", "AC-Density (alpha=1e+06)", "AC-Density (seed=1)", "AC-Density (alpha=1e+06, seed=1)"):
        assert f"  {label}" in done.stdout, "the terminal's rows say what differs"
    where = ("--no-figures", "--where", "standin.scale=0.03")
    shown = {}
    for name, more in {"default": (), "alpha": ("alpha=1e6",), "seed": ("seed=1",)}.items():
        made = make_tables(*where, *(part for condition in more for part in ("--where", condition)))
        assert made.returncode == 0, made.stderr
        text = (tmp_path / "out/tables/synthetic/paper/appendix_auroc.csv").read_text(encoding="utf-8")
        rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
        filled = {row["Method"]: row["LFW MagFace"] for row in rows if row["Method"].startswith("AC-Density")}
        shown[name] = {method: value for method, value in filled.items() if value}
        assert "with standin.scale=0.03" in text
    assert list(shown["default"]) == list(shown["seed"]) == ["AC-Density"]
    assert list(shown["alpha"]) == ["AC-Density", "AC-Density (alpha=1e+06)"]
    assert shown["alpha"]["AC-Density"] == shown["default"]["AC-Density"]
    nothing = make_tables("--no-figures")
    assert (
        nothing.returncode == 1 and "default configuration" in nothing.stderr and "standin.scale=0.03" in nothing.stderr
    )


def test_a_missing_database_is_a_message_not_a_traceback(make_tables: Callable) -> None:
    done = make_tables("--store", "mlflow")
    assert done.returncode == 1 and "MlflowError" in done.stderr and "Traceback" not in done.stderr


def test_without_runs_it_says_how_to_make_some(make_tables: Callable) -> None:
    done = make_tables()
    assert done.returncode == 1 and "No completed runs" in done.stderr and "make demo" in done.stderr


def test_every_method_has_its_row(
    cell: Callable, small: tuple[str, ...], make_tables: Callable, tmp_path: Path
) -> None:
    cell(*small, "backbone=magface", "method=platt")
    table = tmp_path / "out" / "tables" / "synthetic" / "paper" / "appendix_auroc.md"
    assert make_tables("--no-figures").returncode == 0
    assert "| Platt |" in table.read_text(encoding="utf-8")


def test_the_command_for_own_data_works_as_it_stands(
    cell: Callable, run_py: Callable, write_set: Callable, make_tables: Callable, tmp_path: Path
) -> None:
    """What a table of own data says about methods that have not run can be typed, and fills it."""
    own = ("dataset=custom", "dataset.id=mine", "dataset.grouping=[ethnicity]", "backbone=custom", "backbone.id=mynet")
    cell(*own, f"data_root={write_set()}", "method=baseline")
    assert make_tables("--no-figures").returncode == 0
    table = tmp_path / "out" / "tables" / "files" / "strict" / "appendix_summary_mine_mynet.md"
    command = re.findall("`fairfr run (.*)`", table.read_text(encoding="utf-8"))[0]
    typed = [re.sub("^method=.*", "method=ac_linear", part) for part in shlex.split(command)]
    done = run_py(*typed, "store=folder")
    assert done.returncode == 0, done.stdout + done.stderr
    assert make_tables("--no-figures").returncode == 0
    assert "| AC-Linear | " in table.read_text(encoding="utf-8")
