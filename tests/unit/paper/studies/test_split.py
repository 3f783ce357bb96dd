"""The tables of folds made anew."""

from __future__ import annotations

from typing import Any

from made_runs import change, run_of

from fairfr.paper.studies import STUDIES
from fairfr.paper.studies.split import STUDY
from fairfr.report.study import runs_by_study
from fairfr.stored.reading import STRICT
from fairfr.stored.run import Run
from fairfr.stored.selection import Selection

COUNTS = {"moved": 12, "pairs": 100, "dropped": 0, "imbalance": 1, "cut": 0}


def split(result: Any, method: str, protocol: str, backbone: str, auroc: float) -> Run:
    made = result(method, f"rfw/{backbone}", worst={"auroc": auroc, "brier": 1 - auroc})
    finding = {"code": "folds-anew", "severity": "note", "text": "...", "counts": COUNTS}
    stored = {**made.result.to_json(), "key": f"{method}{protocol}{backbone}", "study": "split", "protocol": protocol}
    stored["warnings"] = [] if protocol == "published" else [finding]
    stored["identity"] = {"protocol": {"id": protocol}}
    return run_of({**stored, "differs": {} if protocol == "published" else {"protocol": protocol}})


def test_kinds_of_folds_stand_below_one_another_and_claims_are_judged_by_them(result: Any) -> None:
    results = [
        split(result, method, protocol, backbone, auroc)
        for backbone in ("facenet_casia", "arcface_original")
        for protocol, auroc in (("endpoint_disjoint", 0.8), ("published", 0.9), ("identity_disjoint", 0.7))
        for method in ("platt", "ac_linear", "ac_density")
    ]
    runs = runs_by_study(STUDIES, results, "files", STRICT, Selection())["split"]
    table, folds = STUDY.tables(runs)
    for section in table.sections:
        assert [line.label for line in section.lines] == ["Original", "Endpoint-disjoint", "Identity-disjoint"]
        assert [line.entries[0].value for line in section.lines] == [0.9, 0.8, 0.7]
    arcface = next(section for section in table.sections if "Arcface" in section.heading)
    assert [entry.text for entry in arcface.lines[1].entries[:4]] == ["0.8000", "0.9602", "0.2000", "0.0753"]
    assert [line.label for line in folds.sections[0].lines] == ["Endpoint-disjoint", "Identity-disjoint"]
    assert [entry.text for entry in folds.sections[0].lines[0].entries] == ["100", "12", "1", "0", "0"]
    printed = STUDY.as_printed(runs)
    assert [row.label for row in printed][:2] == [("ArcFace", "Original"), ("ArcFace", "Endpoint-disjoint")]
    assert printed[1].values["ac_density"] == (0.8, 0.2)


def test_rows_of_a_study_come_from_the_newest_configuration_of_a_setting_alone(result: Any) -> None:
    """Other folds are another row of the same study; another grouping is another configuration."""
    older = split(result, "platt", "endpoint_disjoint", "mynet", 0.6)
    newer = [split(result, "platt", protocol, "mynet", 0.8) for protocol in ("published", "identity_disjoint")]
    for day, (run, grouping) in enumerate(zip([older, *newer], ("ethnicity", "sex", "sex"), strict=True), start=1):
        change(run, finished=f"2026-01-0{day}T00:00:00+00:00")
        change(run, identity={**run.result.identity, "dataset": {"id": "rfw", "grouping": [grouping]}})
    runs = runs_by_study(STUDIES, [older, *newer], "files", STRICT, Selection())["split"]
    labels = [line.label for line in STUDY.tables(runs)[0].sections[0].lines]
    assert labels == ["Original", "Identity-disjoint"]
