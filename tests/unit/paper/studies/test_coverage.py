"""The table of a group that is hardly covered."""

from __future__ import annotations

from typing import Any

from made_runs import run_of

from fairfr.paper.studies import STUDIES
from fairfr.paper.studies.coverage import STUDY
from fairfr.report.run import STRICT, Run
from fairfr.report.selection import Selection
from fairfr.report.study import runs_by_study


def covered(result: Any, method: str, keep: float, auroc: float, group: str = "African") -> Run:
    made = result(method, "rfw/arcface_original", groups={"african": {"auroc": auroc, "brier": 1 - auroc}, "asian": {}})
    splitter = {"group": group, "keep": keep, "grouping": None, "repeat": 0}
    stored = {**made.result.to_json(), "key": f"{method}{keep}{group}", "study": "coverage", "protocol": "coverage"}
    stored["identity"] = {"protocol": {"id": "coverage", "splitter": splitter}}
    return run_of({**stored, "differs": {"protocol": "coverage", "protocol.splitter.keep": keep}})


def test_rows_fall_with_the_share_and_stand_beside_the_paper(result: Any) -> None:
    shares = (0.05, 1.0, 0.25)
    results = [covered(result, m, keep, 0.9 + keep / 100) for m in ("platt", "ac_linear") for keep in shares]
    runs = runs_by_study(STUDIES, results, "files", STRICT, Selection())["coverage"]
    (grid,) = STUDY.tables(runs)
    (section,) = grid.sections
    assert section.heading == "RFW x Arcface_Original, African"
    assert [line.label for line in section.lines] == ["100%", "25%", "5%"]
    platt_auroc, printed, brier, printed_brier = (entry.text for entry in section.lines[-1].entries[:4])
    assert (platt_auroc, printed, brier, printed_brier) == ("0.9005", "0.9618", "0.0995", "0.0753")
    figure = STUDY.figure(runs)
    assert figure is not None
    assert [ax.get_title() for ax in figure.axes] == [f"{section.heading}: {what}" for what in ("AUROC", "Brier")]
    assert not STUDY.as_printed(runs), "a claim waits for every printed row"


def test_another_group_has_no_paper_beside_it(result: Any) -> None:
    runs = runs_by_study(STUDIES, [covered(result, "platt", 1.0, 0.9, "asian")], "files", STRICT, Selection())[
        "coverage"
    ]
    (grid,) = STUDY.tables(runs)
    assert "paper" not in grid.columns and grid.sections[0].heading.endswith("Asian")
