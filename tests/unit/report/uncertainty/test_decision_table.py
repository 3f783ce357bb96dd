"""From draws to sentences: the measures that decide, one band for all of them, and advice on real data alone."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from made_runs import change, results_of

from fairfr.core.findings import Finding
from fairfr.metrics.ties import ties_code
from fairfr.report.uncertainty.decision_table import SYNTHETIC, decision_section, decision_sentences, differences
from fairfr.report.uncertainty.difference_lines import run_called
from fairfr.report.uncertainty.setting_bootstrap import BootstrapCache, SettingBootstrap
from fairfr.stored.run import Run


def found_in(runs: list[Run], source: Any = "files", draws: int = 200) -> SettingBootstrap:
    cache = BootstrapCache(results_of(runs, source), draws, with_rates=True)
    found = cache.of((runs[0].result.dataset.id, "facenet"))
    assert found is not None
    return found


def said(found: SettingBootstrap, against: str) -> list[str]:
    reference = run_called(against, found)
    assert reference is not None
    return decision_sentences(found, differences(found, reference), reference)


@pytest.fixture
def runs(fake_run: Any) -> list[Run]:
    methods = (("beta", 0.8), ("ac_hinge", 0.3), ("fsn", 0.8))
    return [fake_run(method, noise=noise, source="files", dataset="mine") for method, noise in methods]


def test_differences_are_those_of_the_pooled_values_and_bands_are_wider_than_intervals(runs: list[Run]) -> None:
    found = found_in(runs)
    beta = run_called("beta", found)
    assert beta is not None
    by_label = differences(found, beta)
    assert set(by_label) == {"Ac_Hinge", "FSN"}
    for label, several in by_label.items():
        assert [one.measure for one in several[:2]] == ["Brier score", "AUROC"]
        for one, metric in zip(several, ("brier", "auroc"), strict=False):
            ours = run_called(label, found)
            assert ours is not None
            pooled = [of.run.number(metric).pooled for of in (ours, beta)]
            assert one.by == pytest.approx(pooled[0] - pooled[1])
            assert one.band[1] - one.band[0] > one.interval[1] - one.interval[0]


def test_the_band_holds_all_differences_together_in_its_share_of_the_draws(runs: list[Run]) -> None:
    found = found_in(runs)
    beta = run_called("beta", found)
    assert beta is not None
    by_label = differences(found, beta)
    inside = np.ones(found.draws, dtype=bool)
    for label, several in by_label.items():
        for one, metric in zip(several[:2], ("brier", "auroc"), strict=True):
            ours = run_called(label, found)
            assert ours is not None
            drawn = ours.drawn(metric)[1] - beta.drawn(metric)[1]
            inside &= (drawn >= one.band[0]) & (drawn <= one.band[1])
    assert 0.945 <= inside.mean() < 1


def test_a_clearly_better_method_is_said_to_be_and_advice_comes_first(runs: list[Run]) -> None:
    sentences = said(found_in(runs), "beta")
    assert len(sentences) == 3
    assert any(one.startswith("Ac_Hinge against Beta: better in Brier score (-0.") for one in sentences)
    # three impostors of 300 at FPR 1e-2: nobody can tell whether a group pays
    assert sentences[0].startswith("Whether to take Ac_Hinge instead of Beta is undetermined")


def test_sentences_and_table_say_where_a_group_has_few_false_matches(fake_run: Any) -> None:
    """3,000 pairs: some 94 impostors of each group, with one false match at 1e-2."""
    found = found_in([fake_run("beta", 0.8, n_pairs=3000), fake_run("ac_hinge", 0.3, n_pairs=3000)], "synthetic")
    (_, sentence) = said(found, "beta")
    assert re.search(r"gap of TPR at equal FMR, points \([^()]*, 1 false match in one group\)", sentence)
    assert re.search(r"worst group's FMR over 1e-2 \([^()]*, [1-7] false match(es)? in one group\)", sentence)
    beta = run_called("beta", found)
    assert beta is not None
    for line in decision_section(found, differences(found, beta), beta).lines:
        marked = ["\u00b0" in entry.spread for entry in line.entries[::3]]
        assert marked == [False, False, True, True]  # Brier score and AUROC are of all pairs


def test_the_second_candidate_needs_a_band_below_zero_as_well(fake_run: Any) -> None:
    """Its own interval leaves out zero, the simultaneous band does not."""
    noises = {"beta": 0.8, "ac_hinge": 0.3, "ac_cohort": 0.295}
    runs = [fake_run(method, noise, n_pairs=40_000, source="files", dataset="mine") for method, noise in noises.items()]
    found = found_in(runs, draws=100)
    hinge, cohort = (run_called(method, found) for method in ("ac_hinge", "ac_cohort"))
    assert hinge is not None and cohort is not None
    brier = differences(found, hinge)[cohort.label][0]
    assert brier.interval[1] < 0 < brier.band[1]
    assert f"Not {cohort.label} instead: its Brier score is not found to be lower" in said(found, "beta")[0]


def test_advice_is_given_against_the_safe_method_alone(runs: list[Run]) -> None:
    assert not any("Take" in one or "Stay" in one or "Whether" in one for one in said(found_in(runs), "fsn"))


def test_nothing_is_recommended_from_synthetic_data(fake_run: Any) -> None:
    runs = [fake_run("beta", noise=0.8), fake_run("ac_hinge", noise=0.3)]
    assert said(found_in(runs, "synthetic"), "beta")[0] == SYNTHETIC


def test_methods_that_rank_alike_are_equal_in_all_that_the_order_decides(fake_run: Any) -> None:
    runs = [fake_run("beta", n_pairs=3000), fake_run("mine", n_pairs=3000)]  # noise goes by the length of the name
    (_, sentence) = said(found_in(runs, "synthetic"), "beta")
    equal = sentence.partition("equal in ")[2]
    for measure in ("Brier score", "AUROC", "worst group's FMR over 1e-2", "gap of TPR at equal FMR"):
        assert measure in equal
    assert "better" not in sentence and "worse in" not in sentence and "undetermined" not in sentence


def test_a_rate_that_no_threshold_meets_decides_nothing(fake_run: Any) -> None:
    runs = [
        fake_run("beta", noise=0.8, n_pairs=3000, source="files", dataset="mine"),
        fake_run("ac_hinge", noise=0.3, n_pairs=3000, source="files", dataset="mine"),
    ]
    change(runs[1], metric_warnings=[asdict(Finding(ties_code("tpr_at_fpr_1e-2"), "warning", "tied"))])
    found = found_in(runs)
    advice, sentence = said(found, "beta")
    assert sentence.endswith("undetermined: worst group's FMR over 1e-2, gap of TPR at equal FMR, points.")
    assert advice.startswith("Whether to take Ac_Hinge instead of Beta is undetermined")
    beta = run_called("beta", found)
    assert beta is not None
    entries = decision_section(found, differences(found, beta), beta).lines[0].entries
    assert not any("nan" in entry.shown or "inf" in entry.shown for entry in entries)
