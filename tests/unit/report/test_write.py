"""A report's files: a folder for each data source and reading, and what its pages say of runs that they do not show."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from made_runs import change, results_of

from fairfr.core.errors import ConfigError
from fairfr.paper.definition import PAPER
from fairfr.report.write import ReportOptions, note_of_runs_left_aside, write_report
from fairfr.stored.reading import PAPER_READING, READINGS, STRICT, Reading
from fairfr.stored.run import Run
from fairfr.stored.selection import Selection

Make = Callable[..., Run]
HIDDEN = "Not shown: 1 run differs from the default configuration. To show them:"


def written(results: list[Run], root: Path, *where: str) -> dict[str, str]:
    """The text of each source's index page."""
    wanted = ReportOptions(figures=False, selection=Selection.where(where))
    folders = [page.folder for page in write_report(results, root, STRICT, wanted, PAPER)]
    return {folder.parent.name: (folder / "index.md").read_text(encoding="utf-8") for folder in folders}


def test_a_page_says_which_runs_it_does_not_show_and_how_to_see_them(result: Make, tmp_path: Path) -> None:
    variant = result("platt", overall={"auroc": 0.8}, key="variant", label="Platt")
    change(variant, differs={"method.estimator.C": 0.5})
    results = [result("platt", overall={"auroc": 0.9}, label="Platt"), variant]
    page = written(results, tmp_path)["files"]
    command = f"fairfr tables --reading strict --out-root {tmp_path} --where method.estimator.C=0.5"
    assert f"{HIDDEN} `{command}`" in page and "Platt (C=0.5)" not in page
    asked = written(results, tmp_path, "method.estimator.C=0.5")["files"]
    assert "Not shown" not in asked and "Platt (C=0.5)" in asked


def test_the_command_reads_the_runs_from_where_they_were_read(result: Make, tmp_path: Path) -> None:
    variant = result("platt", overall={"auroc": 0.8}, key="variant", label="Platt")
    change(variant, differs={"method.estimator.C": 0.5})
    results = [result("platt", overall={"auroc": 0.9}, label="Platt"), variant]
    wanted = ReportOptions(figures=False, origin=("--store", "mlflow", "--tracking-uri", "http://server:5000"))
    note = note_of_runs_left_aside(wanted, results_of(results, "files").aside, tmp_path, None)
    read_from = "--store mlflow --tracking-uri http://server:5000"
    assert note is not None
    assert note.commands == (f"fairfr tables {read_from} --out-root {tmp_path} --where method.estimator.C=0.5",)


def test_a_page_counts_what_a_condition_hides(result: Make, tmp_path: Path) -> None:
    seeds = [result("platt", overall={"auroc": 0.8}, key=f"seed-{seed}", label="Platt") for seed in (1, 2, 3)]
    for seed, run in enumerate(seeds, start=1):
        change(run, differs={"seed": seed})
    page = written([result("platt", overall={"auroc": 0.9}, label="Platt"), *seeds], tmp_path, "seed=1,2")["files"]
    command = f"fairfr tables --reading strict --out-root {tmp_path}"
    assert "Not shown: 1 run does not meet --where. 1 run differs from the default configuration. To show" in page
    assert f"`{command}` ; `{command} --where seed=null,1,2,3`" in page
    assert "Platt (seed=1)" in page and "Platt (seed=3)" not in page


def test_a_page_says_which_runs_a_newer_configuration_replaced(result: Make, tmp_path: Path) -> None:
    results = [result("platt", "mine/mynet", overall={"auroc": 0.8}, key=key) for key in ("a", "b")]
    for day, (run, grouping) in enumerate(zip(results, ([], ["sex"]), strict=True), start=1):
        change(run, finished=f"2026-01-0{day}T00:00:00+00:00")
        change(run, identity={"dataset": {"id": "mine", "grouping": grouping}})
    page = written(results, tmp_path)["files"]
    command = f"fairfr tables --reading strict --out-root {tmp_path} --where 'dataset.grouping=[]'"
    assert "MINE x Mynet: 1 run has another configuration (grouping=[]), and the newest decides." in page
    assert f"`{command}`" in page


def test_differences_can_be_against_any_method_or_variant(fake_run: Make, tmp_path: Path) -> None:
    results = [fake_run(method) for method in ("baseline", "platt", "ac_linear")]
    for name in ("platt", "PLATT", "AC-Linear"):
        write_report(results, tmp_path, STRICT, ReportOptions(20, figures=False, against=name), PAPER)
        text = (tmp_path / "tables/synthetic/strict/differences_rfw_facenet.csv").read_text(encoding="utf-8")
        lines = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
        label = {"platt": "Platt", "ac-linear": "AC-Linear"}[name.lower()]
        assert {line["section"].partition(", ")[2] for line in lines} == {f"minus {label}"}
        assert {line["Method"] for line in lines} == {"Baseline", "Platt", "AC-Linear"} - {label}
    with pytest.raises(ConfigError, match=r"--against oracle: .* There are: ac_linear, baseline, platt"):
        write_report(results, tmp_path, STRICT, ReportOptions(20, figures=False, against="oracle"), PAPER)


def test_a_variant_that_differences_are_against_is_shown_without_a_condition(fake_run: Make, tmp_path: Path) -> None:
    results = [fake_run(method) for method in ("baseline", "ac_linear", "beta")]
    change(results[1], method={**results[1].result.to_json()["method"], "label": "AC-Linear"})
    change(results[1], differs={"method.estimator.C": 0.5})
    change(results[2], differs={"method.estimator.C": 0.5, "seed": 1})
    for name in ("ac_linear (C=0.5)", "AC-Linear(c=0.5)"):
        write_report(results, tmp_path, STRICT, ReportOptions(20, figures=False, against=name), PAPER)
        text = (tmp_path / "tables/synthetic/strict/differences_rfw_facenet.csv").read_text(encoding="utf-8")
        assert "minus AC-Linear (C=0.5)" in text and "minus Baseline" not in text and "Beta" not in text
        page = (tmp_path / "tables/synthetic/strict/index.md").read_text(encoding="utf-8")
        assert "Not shown: 1 run differs" in page  # Beta's
    with pytest.raises(
        ConfigError, match=r"--against beta \(C=0.5, seed=1\): no run here"
    ):  # another seed is --where's
        write_report(results, tmp_path, STRICT, ReportOptions(20, figures=False, against="beta (C=0.5, seed=1)"), PAPER)


def test_a_condition_that_one_source_meets_leaves_the_other_without_a_page(result: Make, tmp_path: Path) -> None:
    small = result("platt", overall={"auroc": 0.9}, source="synthetic")
    change(small, differs={"dataset.standin.scale": 0.2})
    results = [result("platt", overall={"auroc": 0.8}), small]
    assert written(results, tmp_path).keys() == {"files"}
    asked = written(results, tmp_path, "dataset.standin.scale=0.2")
    assert asked.keys() == {"synthetic"} and "All runs with standin.scale=0.2." in asked["synthetic"]


def pages(results: list[Run], root: Path, reading: Reading | None = None, draws: int = 0) -> dict[str, str]:
    """The text of each index page, by source and reading."""
    folders = [page.folder for page in write_report(results, root, reading, ReportOptions(draws, figures=False), PAPER)]
    return {str(folder.relative_to(root / "tables")): (folder / "index.md").read_text() for folder in folders}


def test_the_paper_s_settings_and_own_data_have_a_page_each_in_their_own_reading(result: Make, tmp_path: Path) -> None:
    results = [result("platt", overall={"auroc": 0.9}), result("platt", "mine/mynet", overall={"auroc": 0.8})]
    found = pages(results, tmp_path)
    assert found.keys() == {"files/paper", "files/strict"}
    assert "MagFace on RFW" in found["files/paper"] and "MINE" not in found["files/paper"]
    assert "Mynet on MINE" in found["files/strict"] and "MagFace" not in found["files/strict"]
    for reading in READINGS.values():
        forced = pages(results, tmp_path / "forced", reading)
        assert forced.keys() == {f"files/{reading}"}
        assert all(setting in forced[f"files/{reading}"] for setting in ("MagFace on RFW", "Mynet on MINE"))


def test_a_page_begins_with_what_the_intervals_decide_or_says_how_to_get_it(fake_run: Make, tmp_path: Path) -> None:
    results = [fake_run(method, dataset="mine", source="files") for method in ("baseline", "beta", "ac_hinge")]
    page = pages(results, tmp_path)["files/strict"]
    command = f"fairfr tables --out-root {tmp_path} --against beta"
    assert page.startswith("# fairfr: data files, strict convention\n\nWhat differences between methods decide")
    assert f"`{command}`" in page
    asked = written(results, tmp_path, "data=")["files"]
    again = f"fairfr tables --reading strict --out-root {tmp_path} --where data= --against beta"
    assert f"`{again}`" in asked, "of the same runs"
    (made,) = write_report(results, tmp_path, None, ReportOptions(draws=20, figures=False, against="beta"), PAPER)
    page = (made.folder / "index.md").read_text(encoding="utf-8")
    said = [
        page.index(words)
        for words in ("What the intervals decide against Beta", "Ac_Hinge against Beta: ", "Summary: ")
    ]
    assert said == sorted(said) and page.count("Ac_Hinge against Beta: ") == 1 and command not in page
    decision = (made.folder / "decision_mine_facenet.md").read_text(encoding="utf-8")
    assert "Ac_Hinge against Beta: " in decision, "the table alone says it too"


@pytest.mark.parametrize("reading", [None, *READINGS.values()])
def test_own_data_s_page_has_nothing_of_the_paper(result: Make, reading: Reading | None, tmp_path: Path) -> None:
    (page,) = pages([result("platt", "lfw/mynet", overall={"auroc": 0.8})], tmp_path, reading).values()
    assert "Mynet on LFW" in page
    of_paper = ("the paper's Table", "paper's claims", "Against the paper", "of the paper's", "experiment=")
    assert not [words for words in of_paper if words in page]


def test_on_own_data_the_worst_group_s_brier_score_is_that_of_probabilities(fake_run: Make, tmp_path: Path) -> None:
    """The Baseline's score is 0 to 1 here: taken for a probability, it would come out another number."""
    results = [fake_run(method, dataset="mine", source="files") for method in ("baseline", "ac_linear")]
    page = pages(results, tmp_path, draws=20)["files/strict"]
    baseline, ours = (run.number("brier", "worst") for run in results)
    raw = results[0].read(PAPER_READING).number("brier", "worst")
    assert abs(baseline.pooled - raw.pooled) > 0.001
    text = (tmp_path / "tables/files/strict/differences_mine_facenet.csv").read_text(encoding="utf-8")
    lines = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    (line,) = [line for line in lines if line["section"] == "Brier, minus Baseline"]
    assert float(line["Worst group difference"]) == pytest.approx(ours.pooled - baseline.pooled, abs=1e-4)
    assert page.index("Summary: ") < page.index("Paired differences")


def test_in_the_paper_s_reading_captions_say_which_brier_scores_are_of_a_raw_score(
    fake_run: Make, tmp_path: Path
) -> None:
    results = [fake_run(method) for method in ("baseline", "ac_linear")]
    for reading in READINGS.values():
        pages(results, tmp_path, reading, draws=20)
        folder = tmp_path / "tables" / "synthetic" / reading.name
        for name in ("differences_rfw_facenet", "uncertainty_rfw_facenet", "uncertainty_groups_rfw_facenet", "claims"):
            caption = (folder / f"{name}.md").read_text(encoding="utf-8").partition("\n\n")[0]
            assert ("of the raw score, which is not a probability, for Baseline;" in caption) == (
                reading == PAPER_READING
            )


def test_the_paper_s_second_table_says_which_brier_scores_are_of_a_raw_score(result: Make, tmp_path: Path) -> None:
    results = [result(method, worst={"brier": 0.1, "brier_raw": 0.2}) for method in ("baseline", "platt")]
    for reading in READINGS.values():
        pages(results, tmp_path, reading)
        folder = tmp_path / "tables" / "files" / reading.name
        for name in ("table2_worst_group", "against_paper_worst_group_brier"):
            caption = (folder / f"{name}.md").read_text(encoding="utf-8").partition("\n\n")[0]
            assert ("of the raw score" in caption) == (reading == PAPER_READING)
        caption = (folder / "table1_tpr.md").read_text(encoding="utf-8").partition("\n\n")[0]
        assert "of the raw score" not in caption
