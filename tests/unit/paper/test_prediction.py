"""What the stand-ins predict, and where they contradict what is printed."""

from __future__ import annotations

from collections.abc import Callable

from fairfr.paper.prediction import prediction
from fairfr.report.tables.grid import Note
from fairfr.stored.results import Results
from fairfr.stored.run import Run

MakeRun = Callable[..., Run]
MakeRuns = Callable[..., Results]


def turned(make_run: MakeRun, runs: MakeRuns, tpr: float) -> list[Note]:
    """The note on RFW with MagFace, printed .496 and .504, where the Baseline reaches .5 and AC-Linear ``tpr``."""
    made = []
    for method, value in (("baseline", 0.5), ("ac_linear", tpr)):
        made.append(make_run(("rfw", "magface", method), {("tpr_at_fpr_1e-3", "all"): value}, source="synthetic"))
    (grid,) = prediction(runs(*made, source="synthetic"))
    return [note for note in grid.notes if note.code == "turned"]


def test_a_printed_comparison_whose_sign_turns_round_is_named(make_run: MakeRun, runs: MakeRuns) -> None:
    (note,) = turned(make_run, runs, 0.487)
    assert note.text.startswith("1 of 1 printed differences to the Baseline have the other sign here.")
    assert "AC-Linear on RFW MagFace, TPR at FPR=1e-3 -0.013 / +0.008" in note.text


def test_nothing_is_said_where_the_signs_agree_or_ours_are_equal(make_run: MakeRun, runs: MakeRuns) -> None:
    assert not turned(make_run, runs, 0.51) and not turned(make_run, runs, 0.5)
