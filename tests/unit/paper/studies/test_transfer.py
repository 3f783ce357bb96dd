"""The tables of calibrations away from home."""

from __future__ import annotations

from typing import Any

import pytest
from made_runs import results_of, run_of

from fairfr.paper.claims.judging import CLAIMS, judge
from fairfr.paper.numbers import OurNumbers, PrintedNumbers
from fairfr.paper.studies import STUDIES
from fairfr.paper.studies.transfer import STUDY, transfer_pairs
from fairfr.report.study import runs_by_study
from fairfr.stored.reading import STRICT
from fairfr.stored.run import Run
from fairfr.stored.selection import Selection


@pytest.fixture
def run(fake_run: Any) -> Any:
    """``run(method, protocol, train)``: a run of the study."""

    def make(method: str, protocol: str, train: str | None = None, noise: float = 0.5, digest: str = "d") -> Run:
        made = fake_run(method, noise=noise, dataset=f"{protocol}_{train}_{digest}", known_people=120)
        stored = {**made.result.to_json(), "protocol": protocol, "study": "transfer", "differs": {"protocol": protocol}}
        stored["dataset"] = {"id": "lfw", "label": "LFW"}
        stored["data"] = {**stored["data"], "digest": digest}
        stored["train"] = None if train is None else {"id": train, "label": train.upper()}
        stored["identity"] = {"protocol": {"id": protocol}, "train": stored["train"], "data": digest}
        return run_of(stored, made.folder)

    return make


def test_each_method_away_stands_beside_itself_at_home(run: Any) -> None:
    results = [
        run("platt", "published", noise=0.5),
        run("platt", "transfer", "rfw", noise=0.9),
        run("platt", "leave_group_out", noise=0.5),
        run("beta", "transfer", "rfw"),  # nobody ran it at home
        run("ac_linear", "published"),
        run("ac_linear", "transfer", "rfw", digest="other"),  # another tested set
    ]
    runs = runs_by_study(STUDIES, results, "synthetic", STRICT, Selection())["transfer"]
    found = [(both.section, both.method) for both in transfer_pairs(runs)]
    assert found == [
        ("LFW x FaceNet, fitted on RFW", "Platt"),
        ("LFW x FaceNet, fitted without the group", "Platt"),
    ]
    by_method, by_group = STUDY.tables(runs)
    assert by_method.id == "study_transfer" and "SYNTHETIC" in by_method.caption
    worse, unchanged = (section.lines[0] for section in by_method.sections)
    pairs, home, away, change, between, *_ = worse.entries
    assert pairs.text == "600" and change.tone == "degraded"
    assert change.value == pytest.approx(away.value - home.value) and change.value < 0 and " to -" in between.text
    assert unchanged.entries[3].value == 0 and unchanged.entries[3].tone == "plain"
    assert unchanged.entries[4].text == "+0.0000 to +0.0000"
    assert [line.label for line in by_group.sections[0].lines] == ["One", "Two parts", "Three"]
    figure = STUDY.figure(runs)
    assert figure is not None and len(figure.axes) == 4  # two sections, two metrics


def test_the_claim_about_transfer_is_judged_by_the_study(run: Any) -> None:
    claim = next(claim for claim in CLAIMS if claim.id == "need-not-transfer")
    results = [
        run(method, protocol, train, noise)
        for method, away in (("platt", 0.5), ("ac_linear", 0.9))
        for protocol, train, noise in (("published", None, 0.5), ("transfer", "rfw", away))
    ]
    runs = runs_by_study(STUDIES, results, "synthetic", STRICT, Selection())
    numbers = OurNumbers(results_of([], "synthetic"), runs)
    said = judge(claim, numbers)
    assert said.status == "holds" and "AC-Linear -" in said.detail and "fitted on RFW" in said.detail
    assert judge(claim, PrintedNumbers()).status == "undetermined"
    unharmed = runs_by_study(STUDIES, results[:2], "synthetic", STRICT, Selection())
    assert judge(claim, OurNumbers(results_of([], "synthetic"), unharmed)).status == "undetermined"
