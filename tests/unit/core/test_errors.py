"""What errors are to a program, and what a message says where there is nothing to suggest."""

from __future__ import annotations

import numpy as np
import pytest

import fairfr
from fairfr.core.errors import did_you_mean
from fairfr.core.serialization import decode


def test_bad_values_are_value_errors_as_everywhere_in_python() -> None:
    with pytest.raises(ValueError, match="cosine") as refused:
        fairfr.Platt().fit_scores([0.1, 7.0], [True, False])
    assert isinstance(refused.value, fairfr.DataError)


def test_warnings_can_be_filtered_by_their_class() -> None:
    assert issubclass(fairfr.FairfrWarning, UserWarning)


def test_a_data_error_is_not_taken_for_pythons_own() -> None:
    """json's complaints are ValueErrors, too, and get another sentence."""
    with pytest.raises(fairfr.DataError, match="the array 'gone' is missing"):
        decode({"names": "gone"}, {"here": np.zeros(1)})


def test_where_nothing_is_known_nothing_is_listed() -> None:
    assert did_you_mean("k", []) == " There are none."
