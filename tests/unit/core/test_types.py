"""The nouns: groups of pairs, products of groupings, keys, seeds and error messages."""

from __future__ import annotations

import numpy as np
import pytest

from fairfr.core.calibrator import Calibrator, FitContext, rng_for
from fairfr.core.errors import ConfigError, DataError, FairfrError, did_you_mean
from fairfr.core.run_key import RunKey, configuration_digest
from fairfr.core.types import Grouping, Pairs, PlaceholderIds, cross_groupings, read_only
from fairfr.methods.baseline import Baseline


def codes(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int16)


PAIRS = Pairs(np.array([0, 0, 2, 3, 1], np.int32), np.array([1, 2, 3, 3, 0], np.int32))
COLOUR = Grouping("colour", ("red", "blue"), codes(0, 0, 1, -1))


def test_take_keeps_ends_together() -> None:
    taken = PAIRS.take(np.array([2, 0]))
    assert (taken.left.tolist(), taken.right.tolist(), len(taken)) == ([2, 0], [3, 1], 2)


def test_rule_both_gives_no_group_to_mixed_or_unknown_pairs() -> None:
    assert COLOUR.of(PAIRS, "both").tolist() == [0, -1, -1, -1, 0]


def test_rule_first_gives_the_left_images_group() -> None:
    assert COLOUR.of(PAIRS, "first").tolist() == [0, 0, 1, -1, 0]


def test_group_codes_stay_int16() -> None:
    assert COLOUR.of(PAIRS, "both").dtype == COLOUR.of(PAIRS, "first").dtype == np.int16


def test_product_has_a_level_for_each_combination_that_occurs() -> None:
    ethnicity = Grouping("ethnicity", ("asian", "white"), codes(1, 0, 1, 0, -1, 1))
    gender = Grouping("gender", ("female", "male"), codes(0, 1, 0, -1, 0, 1))
    product = cross_groupings((ethnicity, gender))
    assert product.id == "ethnicity_x_gender"
    assert product.levels == ("asian_male", "white_female", "white_male")
    assert product.codes.tolist() == [1, 0, 1, -1, -1, 2]
    assert product.codes.dtype == np.int16


def test_product_of_three_names_every_part() -> None:
    parts = tuple(Grouping(name, (f"{name}0", f"{name}1"), codes(0, 1)) for name in "abc")
    product = cross_groupings(parts)
    assert (product.id, product.levels) == ("a_x_b_x_c", ("a0_b0_c0", "a1_b1_c1"))
    assert product.codes.tolist() == [0, 1]


def test_product_of_one_is_itself() -> None:
    assert cross_groupings((COLOUR,)) is COLOUR


def test_product_of_unknowns_alone_has_no_levels() -> None:
    product = cross_groupings((Grouping("a", ("x",), codes(-1, 0)), Grouping("b", ("y",), codes(0, -1))))
    assert (product.levels, product.codes.tolist()) == ((), [-1, -1])


def test_read_only_arrays_refuse_writing() -> None:
    array = read_only(np.zeros(2))
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


# -- keys --------------------------------------------------------------------------------------------------------------


def test_a_digest_ignores_the_order_of_keys_and_nothing_else() -> None:
    one = configuration_digest({"a": 1, "b": {"c": [1, 2], "d": None}})
    assert one == configuration_digest({"b": {"d": None, "c": [1, 2]}, "a": 1})
    assert len(one) == 16
    others = [{"a": 2, "b": {"c": [1, 2], "d": None}}, {"a": 1, "b": {"c": [2, 1], "d": None}}, {"a": 1}]
    assert len({one, *map(configuration_digest, others)}) == 4


def test_a_synthetic_run_says_so_in_its_name() -> None:
    assert str(RunKey("rfw", "magface", "platt", "synthetic", "abc")) == "synthetic-abc"
    assert str(RunKey("rfw", "magface", "platt", "files", "abc")) == "abc"


# -- context -----------------------------------------------------------------------------------------------------------


def context(**changes: object) -> FitContext:
    return FitContext(**{"seed": 0, "dataset": "rfw", "backbone": "magface", "fold": "1", **changes})  # type: ignore[arg-type]


def test_randomness_is_named_by_seed_data_fold_and_purpose() -> None:
    changes = [{}, {"seed": 1}, {"dataset": "bfw"}, {"backbone": "adaface"}, {"fold": "2"}]
    seeds = [context(**change).seed_for("kmeans") for change in changes]
    assert len({*seeds, context().seed_for("weights")}) == 6
    assert all(0 <= seed < 2**32 for seed in seeds)


def test_a_name_means_the_same_draws_in_every_release() -> None:
    """Stored runs and published samples rely on them."""
    assert context().seed_for("kmeans") == 1273283188
    assert context().rng("kmeans").integers(10**6, size=3).tolist() == [162950, 72326, 897078]
    assert rng_for("coverage", "3", 1).integers(10**6, size=3).tolist() == [494377, 686313, 579425]


def test_equal_names_give_equal_draws_whatever_else_is_known() -> None:
    one = context().rng("kmeans").random(5)
    two = context(threads=4, grouping="ethnicity", report={"x": 1}).rng("kmeans").random(5)
    assert one.tolist() == two.tolist()


def test_parts_of_a_name_cannot_be_confused() -> None:
    one, two = context(dataset="a", backbone="bc"), context(dataset="ab", backbone="c")
    assert one.seed_for("x") != two.seed_for("x")


def test_each_context_has_a_report_of_its_own() -> None:
    one, two = context(), context()
    one.report["iterations"] = 3
    assert two.report == {}


def test_a_method_is_known_by_what_it_offers() -> None:
    assert isinstance(Baseline(), Calibrator)
    assert not isinstance(object(), Calibrator)


# -- errors ------------------------------------------------------------------------------------------------------------


def test_errors_say_their_kind() -> None:
    assert str(DataError("pairs.csv is empty.")) == "pairs.csv is empty."
    assert DataError("pairs.csv is empty.").named() == "DataError: pairs.csv is empty."
    assert issubclass(ConfigError, FairfrError)


def test_did_you_mean_suggests_only_what_is_near() -> None:
    assert did_you_mean("ac_linaer", ["platt", "ac_linear"]) == " Did you mean 'ac_linear'? Known: ac_linear, platt."
    assert did_you_mean("zzz", ["platt", "beta"]) == " Known: beta, platt."


def test_row_ids_are_the_texts_that_they_stand_for() -> None:
    ids = PlaceholderIds(12)
    spelled = [f"row{row}_{side}" for row in range(12) for side in ("left", "right")]
    assert list(ids) == spelled and len(ids) == 24 and ids[-1] == "row11_right" and ids[3:5] == tuple(spelled[3:5])
    assert ids[np.int32(5)] == spelled[5]
    assert np.asarray(ids).tolist() == spelled
    assert np.array_equal(np.argsort(ids, kind="stable"), np.argsort(spelled, kind="stable"))
    with pytest.raises(IndexError):
        ids[24]
