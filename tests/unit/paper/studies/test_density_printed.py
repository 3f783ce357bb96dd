"""The four forms of AC-Density beside the print."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from made_runs import change

from fairfr.paper.studies import STUDIES
from fairfr.paper.studies.density_printed import STUDY
from fairfr.report.study import runs_by_study
from fairfr.stored.reading import PAPER_READING
from fairfr.stored.run import Run
from fairfr.stored.selection import Selection

# printed of RFW x MagFace: AUROC .973, TPR .466, Brier .064, worst-group Brier .079
SELF = {"auroc": 0.975, "auroc_on_probability": 0.974, "tpr_at_fpr_1e-3": 0.40, "tpr_at_fpr_1e-3_on_probability": 0.20}
LOO = {"auroc": 0.976, "auroc_on_probability": 0.976, "tpr_at_fpr_1e-3": 0.45, "tpr_at_fpr_1e-3_on_probability": 0.37}


@pytest.fixture
def form(result: Callable[..., Run]) -> Callable[..., Run]:
    """``form(method, seed, numbers, brier, worst)``: a run of the study."""

    def make(method: str, seed: int, numbers: dict[str, float], brier: float, worst: float) -> Run:
        run = result(
            method,
            overall={**numbers, "brier": brier},
            worst={"brier": worst},
            source="synthetic",
            key=f"{method}-{seed}",
        )
        change(run, study="density_printed", differs={"dataset.standin.seed": seed}, identity={})
        return run

    return make


def lines(results: list[Run]) -> dict[str, dict[str, Any]]:
    found = runs_by_study(STUDIES, results, "synthetic", PAPER_READING, Selection())
    (grid,) = STUDY.tables(found["density_printed"])
    return {section.heading: {line.label: line.entries for line in section.lines} for section in grid.sections}


def test_forms_are_means_over_seeds_and_the_nearest_is_bold(form: Callable[..., Run]) -> None:
    higher = {name: value + 0.002 for name, value in LOO.items()}
    sections = lines(
        [
            form("ac_density", 0, SELF, 0.075, 0.090),
            form("ac_density_loo", 0, LOO, 0.062, 0.078),
            form("ac_density_loo", 1, higher, 0.064, 0.082),
        ]
    )
    (setting,) = [heading for heading in sections if heading.endswith("2 seeds")]
    of_setting = sections[setting]
    assert [entry.text for entry in of_setting["printed"]] == ["0.973", "0.466", "0.064", "0.079"]
    auroc, tpr, brier, worst = of_setting["LOO, unclipped"]
    assert auroc.value == pytest.approx(0.977) and auroc.spread == f"±{np.std([0.976, 0.978], ddof=1):.4f}"
    assert tpr.value == pytest.approx(0.451) and brier.value == pytest.approx(0.063) and worst.value == 0.080
    bold = {label: [entry.bold for entry in entries] for label, entries in of_setting.items()}
    assert bold["self, clipped"] == [True, False, False, False]
    assert bold["LOO, unclipped"] == [False, True, True, True]
    assert bold["LOO, clipped"] == [False, False, True, True]  # Brier scores do not depend on the ranking
    distances = sections["Distance, RFW"]
    assert distances["self, unclipped"][0].value == pytest.approx(0.002)
    assert distances["LOO, clipped"][1].value == pytest.approx(0.466 - 0.371)
