"""K/N: the worst-served groups that improve before the first that does not."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from fairfr.report.quantity import count_lifted, lifted_groups
from fairfr.stored.reading import PAPER_READING
from fairfr.stored.run import Run

BASELINE = {"asian": 0.90, "black": 0.80, "white": 0.85}


def test_groups_are_taken_worst_baseline_first() -> None:
    assert count_lifted(BASELINE, {"asian": 0.90, "black": 0.81, "white": 0.86}) == (2, 3)


def test_improvements_after_the_first_failure_do_not_count() -> None:
    assert count_lifted(BASELINE, {"asian": 0.99, "black": 0.81, "white": 0.84}) == (1, 3)
    assert count_lifted(BASELINE, {"asian": 0.99, "black": 0.79, "white": 0.99}) == (0, 3)


def test_float_noise_is_no_improvement_but_a_small_real_one_is() -> None:
    assert count_lifted(BASELINE, {group: value + 1e-13 for group, value in BASELINE.items()}) == (0, 3)
    assert count_lifted(BASELINE, {group: value + 1e-6 for group, value in BASELINE.items()}) == (3, 3)


def test_a_group_without_a_value_of_the_method_is_not_lifted() -> None:
    assert count_lifted(BASELINE, {"black": 0.9, "asian": 0.95}) == (1, 3)


values = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=8)


@given(values)
def test_k_is_the_largest_prefix_that_improves_as_a_whole(pairs: list[tuple[float, float]]) -> None:
    baseline = {str(i): before for i, (before, _) in enumerate(pairs)}
    method = {str(i): after for i, (_, after) in enumerate(pairs)}
    ordered = sorted(pairs, key=lambda pair: pair[0])
    fits = [k for k in range(len(pairs) + 1) if all(after > before + 1e-12 for before, after in ordered[:k])]
    assert count_lifted(baseline, method) == (max(fits), len(pairs))


def test_n_counts_the_groups_that_have_a_value(result: Callable[..., Run]) -> None:
    def with_values(method: str, asian: float, black: float | None, white: float) -> Run:
        values = {"asian": asian, "black": black, "white": white}
        return result(method, groups={group: {"auroc": value} for group, value in values.items()})

    baseline = with_values("baseline", 0.8, None, 0.9)
    found = lifted_groups(with_values("faircal", 0.81, None, 0.9), baseline, "auroc")
    assert found == (1, 2) and str(found) == "1/2"
    nothing = result("baseline", groups={"asian": {"auroc": None}})
    assert lifted_groups(nothing, nothing, "auroc") is None


def test_ld_tpr_orders_by_the_baselines_tpr(result: Callable[..., Run]) -> None:
    tpr = "tpr_at_fpr_1e-3"
    baseline = result("baseline", groups={"asian": {"auroc": 0.9, tpr: 0.5}, "white": {"auroc": 0.8, tpr: 0.6}})
    method = result("fsn", groups={"asian": {"auroc": 0.91, tpr: 0.51}, "white": {"auroc": 0.79, tpr: 0.59}})
    assert lifted_groups(method, baseline, tpr) == (1, 2)
    assert lifted_groups(method, baseline, "auroc") == (0, 2)


def test_the_reading_decides_which_values_are_compared(result: Callable[..., Run]) -> None:
    baseline = result("baseline", groups={"asian": {"auroc": 0.9}})
    method = result("ac_density", groups={"asian": {"auroc": 0.95, "auroc_on_probability": 0.9}})
    of_paper = (method.read(PAPER_READING), baseline.read(PAPER_READING), "auroc")
    assert lifted_groups(*of_paper) == (0, 1), "ties of the clipped probability count"
    assert lifted_groups(method, baseline, "auroc") == (1, 1)
