from __future__ import annotations

from fairfr.metrics.catalogue import METRIC_BY_ID, METRICS, GapOf, RateAt

RANKING = {
    "auroc",
    "pauc",
    *(f"{rate}_at_fpr_{alpha}" for rate in ("tpr", "fpr", "acceptance") for alpha in ("1e-2", "1e-3")),
    *(f"{gap}_gap_at_fpr_{alpha}" for gap in ("eo", "pe", "dp") for alpha in ("1e-2", "1e-3")),
}


def test_ids_are_unique_and_complete() -> None:
    on_probability = {f"{name}_on_probability" for name in RANKING}
    assert len(METRIC_BY_ID) == len(METRICS)
    assert set(METRIC_BY_ID) == RANKING | on_probability | {"brier", "brier_raw", "ece_15", "ks"}


def test_labels_are_unique() -> None:
    assert len({metric.label for metric in METRICS}) == len(METRICS)


def test_suffix_and_value_kind_agree() -> None:
    for name in RANKING:
        assert METRIC_BY_ID[name].on == "score"
        assert METRIC_BY_ID[f"{name}_on_probability"].on == "probability"
    assert METRIC_BY_ID["brier_raw"].on == "score"
    assert {METRIC_BY_ID[name].on for name in ("brier", "ece_15", "ks")} == {"probability"}


def test_only_ranks_and_true_positives_are_better_higher() -> None:
    higher = {metric.id.removesuffix("_on_probability") for metric in METRICS if metric.better == "higher"}
    assert higher == {"auroc", "pauc", "tpr_at_fpr_1e-2", "tpr_at_fpr_1e-3"}


def test_false_positive_and_acceptance_rates_have_no_direction() -> None:
    undirected = {
        metric.compute.rate for metric in METRICS if metric.better is None and isinstance(metric.compute, RateAt)
    }
    assert undirected == {"fpr", "acceptance"}
    assert all(isinstance(metric.compute, RateAt) for metric in METRICS if metric.better is None)


def test_every_gap_names_a_rate_on_the_same_values() -> None:
    gaps = [metric for metric in METRICS if isinstance(metric.compute, GapOf)]
    assert len(gaps) == 12
    for metric in gaps:
        assert isinstance(metric.compute, GapOf)
        assert METRIC_BY_ID[metric.compute.metric].on == metric.on
        assert not metric.has_worst
    assert METRIC_BY_ID["pe_gap_at_fpr_1e-3"].compute == GapOf("fpr_at_fpr_1e-3")
