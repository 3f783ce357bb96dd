"""How many false matches keep a rate: by the formulas in loops, and by simulation with people who share pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from fairfr.numerics.allowed_false_matches import People, excess, fewest_impostors, most_allowed


def plain_limit(left: np.ndarray, right: np.ndarray, order: np.ndarray, rate: float, confidence: float) -> int:
    """The largest number of false matches allowed, in loops over people and over pairs of people."""
    n = len(left)

    def shared(rows: np.ndarray) -> tuple[Counter[int], Counter[int], float]:
        m, couples = Counter[int](), Counter[tuple[int, ...]]()
        for row in rows:
            m[left[row]] += 1
            m[right[row]] += 1
            couples[tuple(sorted((left[row], right[row])))] += 1
        ordered = Counter({i: m[i] * (m[i] - 1) for i in m})
        for couple, c in couples.items():
            for i in couple:
                ordered[i] -= c * (c - 1)
        return m, ordered, sum(c * (c - 1) for c in couples.values())

    m, M, A2 = shared(np.arange(n))
    A1 = sum(M.values())
    if A1 + A2 == 0:
        return max((k for k in range(n) if stats.binom.cdf(k, n, rate) <= 1 - confidence), default=-1)
    k0 = max(2, round(max(n * rate, min(100, n / 20))))
    p0 = k0 / n
    e, E, E2 = shared(order[:k0])
    F = sum(E[i] / m[i] for i in E) / (p0**2 * sum(M[i] / m[i] for i in m)) - 1 if A1 else 0.0
    G = E2 / (p0**2 * A2) - 1 if A2 else 0.0
    F, G = max(0, F), max(0, G)
    if p0 > rate:
        F, G = ((1 + x) ** (np.log(rate) / np.log(p0)) - 1 for x in (F, G))
    phi = (F * A1 + G * A2) / n**2
    r = np.array([e[i] - p0 * m[i] for i in m])
    gamma = (r**2).sum() ** 2 / (r**4).sum()
    nu = 2 / max(1 / gamma - 1 / len(m), 2 / len(m))
    phi *= nu / stats.chi2.ppf(1 - confidence, nu)
    tail, mean, best = (1 - confidence) / 2, n * rate, -1
    for k in range(int(mean) + 2):
        more = stats.nbinom.cdf(k, 1 / phi, 1 / (1 + phi * mean)) if phi > 0 else stats.poisson.cdf(k, mean)
        if stats.binom.cdf(k, n, rate) <= tail and more <= tail:
            best = k
    return best


@pytest.mark.parametrize("rate", [0.01, 0.1])
@pytest.mark.parametrize("seed", range(4))
def test_equals_the_plain_form(rate: float, seed: int) -> None:
    """With people who meet once, several times, and not at all."""
    rng = np.random.default_rng(seed)
    left = rng.integers(40, size=1500)
    right = (left + rng.integers(1, 40, size=1500)) % 40
    effect = rng.normal(size=40) * seed / 4
    order = np.argsort(-(effect[left] + effect[right] + rng.normal(size=1500)))
    found = most_allowed(People.of(left, right), order, rate, 0.95)
    assert found == plain_limit(left, right, order, rate, 0.95)
    assert found >= 0 or seed == 3


def test_pairs_without_common_people_have_the_binomial_bound() -> None:
    people = People.of(np.arange(3000), 3000 + np.arange(3000))
    order = np.arange(3000)
    assert excess(people, order, 1e-3, 0.95) is None
    assert most_allowed(people, order, 1e-3, 0.95) == 0
    assert most_allowed(people, order[:2990], 1e-3, 0.95) == -1
    assert fewest_impostors(people, 1e-3, 0.95) == 2995, "the rule of three"


def test_pairs_that_share_people_need_more() -> None:
    left, right = np.triu_indices(20, 1)
    assert fewest_impostors(People.of(left, right), 1e-3, 0.95) == 3688


def everybody(n: int) -> tuple[np.ndarray, np.ndarray]:
    left, right = np.triu_indices(n, 1)
    return left, right


def circle(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Each person meets the next twelve."""
    left = np.repeat(np.arange(n), 12)
    return left, (left + np.tile(np.arange(1, 13), n)) % n


@pytest.mark.parametrize(("design", "n", "of_people"), [(everybody, 60, 0.5), (circle, 150, 0.5), (circle, 150, 0.0)])
def test_the_rate_is_kept(design: Callable[[int], tuple[np.ndarray, np.ndarray]], n: int, of_people: float) -> None:
    """Scores are sums of two people's effects and noise: the true rate at every threshold is a normal tail.

    With 95 % confidence at most one run in twenty may exceed the wanted rate. Where people have effects, pairs taken
    as independent exceed it much more often.
    """
    rate, runs = 0.02, 200
    left, right = design(n)
    people, strangers = People.of(left, right), People.of(np.arange(len(left)), len(left) + np.arange(len(left)))
    broken, broken_if_independent = 0, 0
    for run in range(runs):
        rng = np.random.default_rng(run)
        effect = rng.normal(size=n) * np.sqrt(of_people / 2)
        score = effect[left] + effect[right] + rng.normal(size=len(left)) * np.sqrt(1 - of_people)
        order = np.argsort(-score)
        for who in (people, strangers):
            allowed = most_allowed(who, order, rate, 0.95)
            exceeds = allowed >= 0 and stats.norm.sf(score[order[allowed]]) > rate
            broken += exceeds and who is people
            broken_if_independent += exceeds and who is strangers
    chance = 3 * np.sqrt(0.05 * 0.95 / runs)
    assert broken / runs <= 0.05 + chance
    if of_people > 0:
        assert broken_if_independent / runs > 0.05 + chance


def test_the_rule_of_three_where_pairs_are_independent() -> None:
    for rate, confidence in ((1e-2, 0.95), (1e-3, 0.95), (1e-3, 0.99)):
        n = fewest_impostors(None, rate, confidence)
        assert (1 - rate) ** n <= 1 - confidence < (1 - rate) ** (n - 1)
    assert fewest_impostors(None, 1e-3, 0.95) == 2995
