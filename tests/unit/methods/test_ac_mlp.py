"""AC-MLP: its size, its inputs, and its randomness."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from fairfr.core.calibrator import FitContext
from fairfr.core.errors import ConfigError
from fairfr.core.types import Pairs, VerificationSet
from fairfr.methods.ac_mlp import ACMLP, _Inputs, _network
from fairfr.pairs.design import PairDesign
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView


def context(**changes: object) -> FitContext:
    return FitContext(**{"seed": 0, "dataset": "d", "backbone": "b", "fold": "0", **changes})  # type: ignore[arg-type]


def buffer(rows: int, width: int) -> np.ndarray:
    return np.empty((rows, width), dtype=np.float32)


@pytest.fixture(scope="module")
def view(make_set: Callable[..., VerificationSet]) -> PairView:
    """Pairs that are the same when they lie on one side of a plane, whatever their cosine: Platt cannot tell."""
    rng = np.random.default_rng(31)
    vectors = rng.standard_normal((300, 12))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    data = make_set(vectors, rng.integers(300, size=700), rng.integers(300, size=700))
    return PairView(PairTable(data), np.arange(700), frozenset({"embeddings"}))


@pytest.fixture(scope="module")
def same(view: PairView) -> np.ndarray:
    side: np.ndarray = view.midpoints().rows(np.arange(view.n_pairs))[:, 0] > 0
    return side


def test_parameters_at_512_dimensions(synthetic_set: Callable[..., VerificationSet]) -> None:
    data = synthetic_set("rfw")
    rows = np.arange(64)
    ctx = context()
    ACMLP(epochs=1).fit(PairView(PairTable(data), rows, frozenset({"embeddings"})), data.same[rows], ctx)
    assert ctx.report["parameters"] == 527_361


def test_inputs_are_the_direction_of_the_midpoint_and_the_cosine() -> None:
    rng = np.random.default_rng(32)
    vectors = rng.standard_normal((4, 5)).astype(np.float32)
    design = PairDesign(vectors, Pairs(np.array([0, 1], np.int32), np.array([2, 3], np.int32)))
    rows = _Inputs(design.append(np.array([0.25, -0.5])), buffer(1, 6)).rows(np.array([1]))
    middle = vectors[1] + vectors[3]
    np.testing.assert_allclose(rows[0], [*(middle / np.linalg.norm(middle)), -0.5], rtol=1e-6)
    assert rows.dtype == np.float32


def test_a_zero_midpoint_stays_zero(make_set: Callable[..., VerificationSet]) -> None:
    vectors = np.eye(4)[[0, 0, 1, 2]] * np.array([[1], [-1], [1], [1]])
    data = make_set(vectors, [0, 2, 0, 1], [1, 3, 2, 3])
    view = PairView(PairTable(data), np.arange(4), frozenset({"embeddings"}))
    inputs = _Inputs(view.midpoints().append(view.cosine), buffer(4, 5)).rows(np.arange(4))
    assert inputs[0].tolist() == [0, 0, 0, 0, -1]
    prediction = ACMLP(hidden=8).fit(view, data.same, context()).predict(view)
    assert np.isfinite(prediction.score).all()


def test_it_learns_what_the_cosine_does_not_say(view: PairView, same: np.ndarray) -> None:
    prediction = ACMLP(hidden=64, batch=64, epochs=10, learning_rate=1e-2).fit(view, same, context()).predict(view)
    assert ((prediction.score > 0.5) == same).mean() > 0.95
    np.testing.assert_array_equal(prediction.score, prediction.probability)


def test_prediction_is_the_networks_own(view: PairView, same: np.ndarray) -> None:
    method = ACMLP(hidden=16).fit(view, same, context())
    rows = _Inputs(view.midpoints().append(view.cosine), buffer(700, 13)).rows(np.arange(view.n_pairs))
    network = _network(13, 16, 0)
    trained = method.network_
    arrays = (trained.hidden_weight, trained.hidden_bias, trained.output_weight, trained.output_bias)
    for parameter, array in zip(network.parameters(), arrays, strict=True):
        parameter.data = torch.from_numpy(array)
    expected = torch.sigmoid(network(torch.from_numpy(rows))).squeeze(1).detach().numpy()
    np.testing.assert_allclose(method.predict(view).probability, expected, atol=1e-6)


def test_same_seed_same_bytes_and_another_seed_other_ones(view: PairView, same: np.ndarray) -> None:
    def scores(**changes: object) -> bytes:
        return ACMLP(hidden=16).fit(view, same, context(**changes)).predict(view).score.tobytes()

    torch.manual_seed(1)
    first = scores()
    torch.manual_seed(2)  # the caller's random state has no say
    assert scores() == first
    assert scores(seed=1) != first
    assert scores(fold="1") != first


def test_the_global_random_state_is_left_alone(view: PairView, same: np.ndarray) -> None:
    before, before_numpy = torch.random.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    ACMLP(hidden=16).fit(view, same, context()).predict(view)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert np.array_equal(np.random.get_state()[1], before_numpy)  # noqa: NPY002


def test_weights_start_as_pytorchs_own_default() -> None:
    torch.manual_seed(5)
    expected = torch.nn.Linear(7, 3).weight
    assert torch.equal(_network(7, 3, 5)[0].weight, expected)


def test_the_last_short_batch_is_kept(make_set: Callable[..., VerificationSet]) -> None:
    """Three pairs in batches of two: all of them, and so a prefix of two trains another network."""
    rng = np.random.default_rng(33)
    data = make_set(rng.standard_normal((6, 4)), [0, 1, 2], [3, 4, 5], same=[True, False, True])
    table = PairTable(data)
    steps = []
    original = torch.optim.Adam.step
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.optim.Adam, "step", lambda self: (steps.append(1), original(self)))
        view = PairView(table, np.arange(3), frozenset({"embeddings"}))
        ACMLP(hidden=4, epochs=3, batch=2).fit(view, data.same, context())
    assert len(steps) == 3 * 2


@pytest.mark.parametrize(
    ("min_steps", "epochs"),
    [(0, 5), (15, 5), (16, 6), (100, 34)],  # three steps an epoch
)
def test_epochs_go_on_until_there_are_steps_enough(
    view: PairView, same: np.ndarray, min_steps: int, epochs: int
) -> None:
    ctx = context()
    steps = []
    original = torch.optim.Adam.step
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.optim.Adam, "step", lambda self: (steps.append(1), original(self)))
        ACMLP(hidden=4, batch=300, min_steps=min_steps).fit(view, same, ctx)
    assert len(steps) == ctx.report["steps"] == 3 * epochs
    assert ctx.report["epochs"] == epochs


@pytest.mark.parametrize(
    "options", [{"min_steps": -1}, {"hidden": 0}, {"epochs": 0}, {"batch": 0}, {"learning_rate": 0.0}]
)
def test_impossible_options_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=f"method.estimator.{next(iter(options))} must be"):
        ACMLP(**options)  # type: ignore[arg-type]


def test_training_is_that_of_a_plain_loop_bit_for_bit(view: PairView, same: np.ndarray) -> None:
    method = ACMLP(hidden=32, epochs=2, batch=96).fit(view, same, context())
    expected = _network(13, 32, context().seed_for("weights"))
    optimiser = torch.optim.Adam(expected.parameters(), lr=1e-3)
    shuffle, target = context().rng("batches"), torch.from_numpy(same.astype(np.float32))
    rows = view.midpoints().rows(np.arange(view.n_pairs))
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    inputs = torch.from_numpy(np.column_stack([unit, view.cosine]).astype(np.float32))
    for _ in range(2):
        order = shuffle.permutation(view.order_by_id())
        for start in range(0, view.n_pairs, 96):
            index = torch.from_numpy(order[start : start + 96])
            optimiser.zero_grad()
            logit = expected(inputs[index]).squeeze(1)
            torch.nn.functional.binary_cross_entropy_with_logits(logit, target[index]).backward()
            optimiser.step()
    trained = method.network_
    arrays = (trained.hidden_weight, trained.hidden_bias, trained.output_weight, trained.output_bias)
    for ours, theirs in zip(arrays, expected.parameters(), strict=True):
        np.testing.assert_array_equal(ours, theirs.detach().numpy())
