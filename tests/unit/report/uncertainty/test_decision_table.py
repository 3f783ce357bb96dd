"""From draws to sentences: the measures that decide, one band for all of them, and advice on real data alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fairfr.paper.order import ORDER
from fairfr.report.tables.layout import Layout
from fairfr.report.uncertainty.decision_table import SYNTHETIC, decision_sentences, differences
from fairfr.report.uncertainty.difference_lines import row_called
from fairfr.report.uncertainty.setting_bootstrap import BootstrapCache, SettingBootstrap
from fairfr.stored.run import Run
from fairfr.stored.runs import SelectedRuns


def found_in(runs: list[Run], source: Any = "files", draws: int = 200) -> SettingBootstrap:
    cache = BootstrapCache(Layout(SelectedRuns(runs, source), ORDER), draws, with_rates=True)
    found = cache.of((runs[0].result.dataset.id, "facenet"))
    assert found is not None
    return found


def said(found: SettingBootstrap, against: str) -> list[str]:
    reference = row_called(against, found)
    assert reference is not None
    return decision_sentences(found, differences(found, reference), reference)


@pytest.fixture
def runs(fake_run: Any) -> list[Run]:
    methods = (("beta", 0.8), ("ac_hinge", 0.3), ("fsn", 0.8))
    return [fake_run(method, noise=noise, source="files", dataset="mine") for method, noise in methods]


def test_differences_are_those_of_the_pooled_values_and_bands_are_wider_than_intervals(runs: list[Run]) -> None:
    found = found_in(runs)
    beta = row_called("beta", found)
    assert beta is not None
    by_label = differences(found, beta)
    assert set(by_label) == {"Ac_Hinge", "FSN"}
    for label, several in by_label.items():
        assert [one.measure for one in several[:2]] == ["Brier score", "AUROC"]
        for one, metric in zip(several, ("brier", "auroc"), strict=False):
            row = row_called(label, found)
            assert row is not None
            pooled = [found.runs[of.label].number(metric).pooled for of in (row, beta)]
            assert one.by == pytest.approx(pooled[0] - pooled[1])
            assert one.band[1] - one.band[0] > one.interval[1] - one.interval[0]


def test_the_band_holds_all_differences_together_in_its_share_of_the_draws(runs: list[Run]) -> None:
    found = found_in(runs)
    beta = row_called("beta", found)
    assert beta is not None
    by_label = differences(found, beta)
    inside = np.ones(found.draws, dtype=bool)
    for label, several in by_label.items():
        for one, metric in zip(several[:2], ("brier", "auroc"), strict=True):
            row = row_called(label, found)
            assert row is not None
            drawn = found.value(row, metric, "all")[1] - found.value(beta, metric, "all")[1]
            inside &= (drawn >= one.band[0]) & (drawn <= one.band[1])
    assert 0.945 <= inside.mean() < 1


def test_a_clearly_better_method_is_said_to_be_and_advice_comes_last(runs: list[Run]) -> None:
    sentences = said(found_in(runs), "beta")
    assert len(sentences) == 3
    assert any(one.startswith("Ac_Hinge against Beta: better in Brier score (-0.") for one in sentences)
    # three impostors of 300 at FPR 1e-2: nobody can tell whether a group pays
    assert sentences[-1].startswith("Whether to take Ac_Hinge instead of Beta is undetermined")


def test_advice_is_given_against_the_safe_method_alone(runs: list[Run]) -> None:
    assert not any("Take" in one or "Stay" in one or "Whether" in one for one in said(found_in(runs), "fsn"))


def test_nothing_is_recommended_from_synthetic_data(fake_run: Any) -> None:
    runs = [fake_run("beta", noise=0.8), fake_run("ac_hinge", noise=0.3)]
    assert said(found_in(runs, "synthetic"), "beta")[-1] == SYNTHETIC


def test_methods_that_rank_alike_are_equal_in_auroc(fake_run: Any) -> None:
    found = found_in([fake_run("beta"), fake_run("mine")], "synthetic")  # noise goes by the length of the name
    assert "equal in Brier score" in said(found, "beta")[0] and "AUROC" in said(found, "beta")[0]
    assert "better" not in said(found, "beta")[0] and "worse in" not in said(found, "beta")[0]
