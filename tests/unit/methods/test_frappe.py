"""FRAPPÉ against Platt, automatic differentiation and scikit-learn."""

import numpy as np
import pytest
import torch
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import pairwise_distances_argmin

from fairfr.core.calibrator import FitContext
from fairfr.core.errors import ConfigError
from fairfr.methods import _frappe_training
from fairfr.methods._frappe_training import (
    BatchValues,
    StandardisedMidpoints,
    TrainingSettings,
    TrainingStep,
    midpoint_moments,
    nearest_cluster_mean,
    two_layer_network,
    ward_means,
)
from fairfr.methods.frappe import Frappe
from fairfr.methods.platt import Platt
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView


def view_of(data, rows=None):
    return PairView(PairTable(data), np.arange(data.n_pairs) if rows is None else rows, Frappe.needs, "Frappe")


def context(seed=0):
    return FitContext(seed=seed, dataset="toy", backbone="net", fold="1")


def probability_of(data, ctx=None, **options):
    method = Frappe(**({"epochs": 30, "learning_rate": 1e-3} | options))
    return method.fit(view_of(data), data.same, ctx or context()).predict(view_of(data)).probability


def training(**options):
    fields = {name: getattr(Frappe(), name) for name in TrainingSettings.__slots__}
    return TrainingSettings(**(fields | options))


def test_strength_zero_is_platt_though_training_ran(two_places):
    data, ctx = two_places(), context()
    platt = Platt().fit(view_of(data), data.same, context()).predict(view_of(data)).probability
    np.testing.assert_allclose(probability_of(data, ctx, strength=0.0), platt, atol=1e-12, rtol=0)
    assert ctx.report["steps"] == 90


def test_correction_starts_at_exactly_zero():
    additive = two_layer_network(8, 64, 1, zero_last=True)
    assert torch.count_nonzero(additive(torch.randn(100, 8))) == 0
    assert torch.count_nonzero(additive[0].weight) > 0


def test_strength_moves_away_from_the_base_and_costs_brier_score(two_places):
    """One adversary may be lost where another wins, so what holds only on average is asserted on average."""
    data = two_places()
    view = view_of(data)
    means = ward_means(view.midpoints(), view.cosine, np.arange(data.n_pairs), 4)
    cluster = nearest_cluster_mean(view.midpoints(), view.cosine, means)
    base = probability_of(data, strength=0.0, clusters=4)

    def spread_over_clusters(probability):
        logit = np.log(probability / (1 - probability))
        return np.var([logit[~data.same & (cluster == k)].mean() for k in range(4)])

    def distance_from_base(probability):
        return np.mean(base * np.log(base / probability) + (1 - base) * np.log((1 - base) / (1 - probability)))

    mild_spreads = []
    for seed in range(4):
        mild, full, strong = (probability_of(data, context(seed), strength=x, clusters=4) for x in (0.3, 1.0, 3.0))
        assert 0 < distance_from_base(mild) < distance_from_base(full) < distance_from_base(strong)
        assert np.mean((strong - data.same) ** 2) > np.mean((base - data.same) ** 2)
        mild_spreads.append(spread_over_clusters(mild))
    assert np.mean(mild_spreads) < 0.95 * spread_over_clusters(base)


def test_same_seed_same_bytes_another_seed_other_ones(two_places):
    data = two_places(600)
    first, again, other = probability_of(data), probability_of(data), probability_of(data, context(1))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0


def test_training_leaves_the_global_random_state_alone(two_places):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    probability_of(two_places(200), epochs=1)
    torch.testing.assert_close(torch.rand(3), expected)


@pytest.mark.parametrize(("pairs", "expected"), [(99, 1), (100, 2), (449, 8), (1000, 20), (1200, 20)])
def test_clusters_are_at_most_a_fiftieth_of_the_pairs(two_places, pairs, expected):
    ctx = context()
    probability_of(two_places(pairs), ctx, max_steps=1)
    assert ctx.report["clusters"] == expected


@pytest.mark.parametrize("options", [{"clusters": 1}, {}])
def test_one_cluster_leaves_platt(two_places, options):
    data, ctx = two_places(600 if options else 60), context()
    platt = Platt().fit(view_of(data), data.same, context()).predict(view_of(data)).probability
    np.testing.assert_array_equal(probability_of(data, ctx, **options), platt)
    assert ctx.report["steps"] == 0


def test_pseudo_groups_equal_scikit_learn(two_places):
    data = two_places(400)
    view, chosen = view_of(data), np.arange(0, 400, 2)
    vectors = data.embeddings.vectors.astype(float)
    points = vectors[data.pairs.left] + vectors[data.pairs.right]
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    labels = AgglomerativeClustering(n_clusters=6, linkage="ward").fit_predict(points[chosen])
    expected = np.stack([points[chosen][labels == k].mean(axis=0) for k in range(6)])
    means = ward_means(view.midpoints(), view.cosine, chosen, 6)
    np.testing.assert_allclose(means[np.argsort(means[:, 0])], expected[np.argsort(expected[:, 0])], atol=1e-6)
    found = nearest_cluster_mean(view.midpoints(), view.cosine, means)
    np.testing.assert_array_equal(found, pairwise_distances_argmin(points, means))


def test_opposite_images_belong_to_the_mean_nearest_to_the_origin(two_places):
    data = two_places(2)
    view = view_of(data)
    means = np.eye(8)[:3] * [[1.0], [0.5], [2.0]]
    assert nearest_cluster_mean(view.midpoints(), np.full(2, -1.0), means).tolist() == [1, 1]


def batch(n=64, groups=4):
    draw = torch.Generator().manual_seed(1)
    logit = torch.randn(n, generator=draw, dtype=torch.float64)
    base = torch.randn(n, generator=draw, dtype=torch.float64)
    same = (torch.rand(n, generator=draw) < 0.5).double()
    return logit.requires_grad_(), base, same, torch.randint(0, groups, (n,), generator=draw)


@pytest.mark.parametrize("criterion", ["eo", "dp"])
@pytest.mark.parametrize("discrepancy", ["kl", "bce"])
def test_loss_has_the_slope_of_the_written_out_formula(criterion, discrepancy):
    logit, base, same, group = batch()
    how = training(strength=0.7, criterion=criterion, discrepancy=discrepancy)
    adversary = two_layer_network({"eo": 3, "dp": 1}[criterion], 32, 4).double()
    step = TrainingStep(two_layer_network(5, 64, 1, zero_last=True), adversary, how, 1.3)
    fair, wanted = torch.sigmoid(logit), torch.sigmoid(base)
    if discrepancy == "kl":
        distance = wanted * torch.log(wanted / fair) + (1 - wanted) * torch.log((1 - wanted) / (1 - fair))
    else:
        distance = -(same * torch.log(fair) + (1 - same) * torch.log(1 - fair))
    f = logit / 1.3
    seen = torch.stack([f * same, f * (1 - same), same], 1) if criterion == "eo" else f[:, None]
    guess = torch.log_softmax(adversary(seen), 1)[torch.arange(64), group]
    (expected,) = torch.autograd.grad(distance.mean() + 0.7 * guess.mean(), logit)
    (found,) = torch.autograd.grad(step.loss(logit, BatchValues(base, same, group)), logit)
    torch.testing.assert_close(found, expected, atol=1e-12, rtol=1e-9)


def test_adversary_learns_while_the_correction_rests():
    logit, _, same, _ = (t.detach().float() for t in batch(256))
    group = (logit > 0).long()
    how = training(strength=0.0, adversary_learning_rate=1e-2)
    additive, adversary = two_layer_network(5, 64, 1, zero_last=True), two_layer_network(3, 32, 2)
    seen = torch.stack([logit * same, logit * (1 - same), same], 1)
    before = torch.nn.functional.cross_entropy(adversary(seen), group).item()
    step = TrainingStep(additive, adversary, how, 1.0)
    for _ in range(200):
        step(torch.zeros(256, 5), BatchValues(logit, same, group))
    assert torch.nn.functional.cross_entropy(adversary(seen), group).item() < before / 2
    assert torch.count_nonzero(additive[2].weight) == 0


@pytest.mark.parametrize("criterion", ["eo", "dp"])
def test_steps_follow_the_written_out_slope(criterion):
    how = training(strength=0.8, criterion=criterion, learning_rate=1e-3)
    draw = torch.Generator().manual_seed(3)
    x, base = torch.randn(20, 96, 33, generator=draw), torch.randn(20, 96, generator=draw)
    same = (torch.rand(20, 96, generator=draw) < 0.5).float()
    group = torch.randint(0, 4, (20, 96), generator=draw)
    nets = []
    for _ in range(2):
        torch.manual_seed(7)
        nets.append(
            (two_layer_network(33, 64, 1, zero_last=True), two_layer_network({"eo": 3, "dp": 1}[criterion], 32, 4))
        )
    step = TrainingStep(*nets[0], how, 1.3)
    for inputs, *values in zip(x, base, same, group, strict=True):
        step(inputs, BatchValues(*values))
    train_by_hand(*nets[1], how, 1.3, zip(x, base, same, group, strict=True))
    for ours, theirs in zip(nets[0], nets[1], strict=True):
        for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
            torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


def train_by_hand(additive, adversary, how, spread, batches):
    optimisers = [
        torch.optim.Adam(net.parameters(), lr=lr, fused=True)
        for net, lr in ((additive, how.learning_rate), (adversary, how.adversary_learning_rate))
    ]

    def guess_loss(logit, same, group):
        f = logit / spread
        seen = [f * same, f * (1 - same), same] if how.criterion == "eo" else [f]
        return torch.nn.functional.cross_entropy(adversary(torch.stack(seen, dim=1)), group)

    for x, base, same, group in batches:
        fair = base + additive(x).squeeze(1)
        logit = fair.detach().requires_grad_()
        optimisers[1].zero_grad()
        guess_loss(logit.detach(), same, group).backward()
        optimisers[1].step()
        slope = (torch.sigmoid(logit.detach()) - torch.sigmoid(base)) / len(base)
        slope = slope - how.strength * torch.autograd.grad(guess_loss(logit, same, group), logit)[0]
        optimisers[0].zero_grad()
        torch.autograd.backward(fair, slope)
        optimisers[0].step()


def test_inputs_are_standardised_whether_kept_or_made_anew(two_places, monkeypatch):
    design = view_of(two_places(300)).midpoints()
    mean, scale = midpoint_moments(design)
    kept = StandardisedMidpoints(design, mean, scale).rows(np.arange(300))
    monkeypatch.setattr(_frappe_training, "KEEP_INPUTS", 0)
    made = StandardisedMidpoints(design, mean, scale).rows(np.arange(300))
    np.testing.assert_array_equal(kept.numpy(), made.numpy())
    np.testing.assert_allclose(kept.numpy().mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(kept.numpy().std(axis=0), 1, atol=1e-5)


def test_steps_are_capped(two_places):
    ctx = context()
    probability_of(two_places(600), ctx, epochs=100, batch=100, max_steps=7)
    assert ctx.report["steps"] == 7


def test_a_subset_predicts_as_in_the_whole(two_places):
    data = two_places(300)
    method = Frappe(epochs=5, learning_rate=1e-2).fit(view_of(data), data.same, context())
    whole = method.predict(view_of(data)).probability
    rows = np.array([2, 100, 299])
    np.testing.assert_allclose(method.predict(view_of(data, rows)).probability, whole[rows], atol=1e-6)


def test_one_class_only_stays_finite(two_places):
    data = two_places(200)
    same = np.ones(200, bool)
    probability = Frappe(epochs=2).fit(view_of(data), same, context()).predict(view_of(data)).probability
    assert np.isfinite(probability).all()
    assert probability.min() > 0.9


@pytest.mark.parametrize(
    "options", [{"clusters": 0}, {"strength": -1.0}, {"learning_rate": 0.0}, {"epochs": 0}, {"max_clustered": 5}]
)
def test_impossible_settings_are_refused(options):
    with pytest.raises(ConfigError, match=next(iter(options))):
        Frappe(**options)
