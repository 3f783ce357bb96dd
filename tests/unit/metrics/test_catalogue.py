from __future__ import annotations

from fairfr.metrics.catalogue import METRIC_BY_ID, METRICS, OverGroups, OwnTprAt, RateAt
from fairfr.metrics.differentials import max_min_gap, max_min_ratio

LEVELS = ("1e-2", "1e-3", "1e-4")
DEVIATIONS = ("mean", "aad", "mad", "std")
RANKING = {
    "auroc",
    "pauc",
    *(f"{rate}_at_fpr_{alpha}" for rate in ("tpr", "fpr", "acceptance") for alpha in LEVELS),
    *(f"tpr_at_own_fpr_{alpha}" for alpha in LEVELS),
    *(f"{gap}_gap_at_fpr_{alpha}" for gap in ("eo", "pe", "dp", "own_eo") for alpha in LEVELS),
    *(f"fpr_{kind}_at_fpr_{alpha}" for kind in ("ratio", "spread", *DEVIATIONS) for alpha in LEVELS),
    *(f"tpr_{kind}_at_fpr_{alpha}" for kind in DEVIATIONS for alpha in LEVELS),
}
KS = {"ks", *(f"ks_{kind}" for kind in DEVIATIONS)}


def test_ids_are_unique_and_complete() -> None:
    on_probability = {f"{name}_on_probability" for name in RANKING}
    assert len(METRIC_BY_ID) == len(METRICS)
    assert set(METRIC_BY_ID) == RANKING | on_probability | {"brier", "brier_raw", "ece_15"} | KS


def test_labels_are_unique() -> None:
    assert len({metric.label for metric in METRICS}) == len(METRICS)


def test_suffix_and_value_kind_agree() -> None:
    for name in RANKING:
        assert METRIC_BY_ID[name].on == "score"
        assert METRIC_BY_ID[f"{name}_on_probability"].on == "probability"
    assert METRIC_BY_ID["brier_raw"].on == "score"
    assert {METRIC_BY_ID[name].on for name in {"brier", "ece_15"} | KS} == {"probability"}


def test_only_ranks_and_true_positives_are_better_higher() -> None:
    higher = {metric.id.removesuffix("_on_probability") for metric in METRICS if metric.better == "higher"}
    rates = {f"{rate}_fpr_{level}" for rate in ("tpr_at", "tpr_at_own", "tpr_mean_at") for level in LEVELS}
    assert higher == {"auroc", "pauc"} | rates


def test_acceptance_alone_has_no_direction() -> None:
    undirected = [metric for metric in METRICS if metric.better is None]
    assert len(undirected) == 2 * len(LEVELS)
    for metric in undirected:
        assert isinstance(metric.compute, RateAt)
        assert metric.compute.rate == "acceptance"


def test_every_number_over_groups_names_a_rate_on_the_same_values() -> None:
    over_groups = [metric for metric in METRICS if isinstance(metric.compute, OverGroups)]
    for metric in over_groups:
        assert isinstance(metric.compute, OverGroups)
        assert METRIC_BY_ID[metric.compute.metric].on == metric.on
        assert not metric.has_worst
    assert METRIC_BY_ID["pe_gap_at_fpr_1e-3"].compute == OverGroups("fpr_at_fpr_1e-3", max_min_gap)
    assert METRIC_BY_ID["own_eo_gap_at_fpr_1e-3"].compute == OverGroups("tpr_at_own_fpr_1e-3", max_min_gap)
    ratio = METRIC_BY_ID["fpr_ratio_at_fpr_1e-3_on_probability"].compute
    assert ratio == OverGroups("fpr_at_fpr_1e-3_on_probability", max_min_ratio)


def test_rates_at_one_threshold_and_at_own_thresholds_have_a_worst_group() -> None:
    for name in ("tpr_at_fpr_1e-3", "fpr_at_fpr_1e-3", "tpr_at_own_fpr_1e-3"):
        assert METRIC_BY_ID[name].has_worst
    assert METRIC_BY_ID["tpr_at_own_fpr_1e-4"].compute == OwnTprAt(1e-4)
