"""What an audit says: each sentence where its condition holds, and not where it does not."""

from __future__ import annotations

import numpy as np
import pytest

from fairfr.auditing.audit import audit
from fairfr.auditing.sentences import level_text, percent, rounded_down

Table = tuple[np.ndarray, np.ndarray, np.ndarray]


def matcher(n: int = 6000, false_matches: tuple[int, int] = (60, 6), misses: tuple[int, int] = (30, 30)) -> Table:
    """Two groups of n / 2 pairs, half of them genuine, with so many errors at .5; scores are otherwise apart."""
    group = np.repeat(["asian", "white"], n // 2)
    same = np.arange(n) % 2 == 0
    score = np.where(same, 0.8, 0.2) + np.linspace(0, 0.05, n)
    for name, wrong, missed in zip(("asian", "white"), false_matches, misses, strict=True):
        score[np.flatnonzero(~same & (group == name))[:wrong]] = 0.6
        score[np.flatnonzero(same & (group == name))[:missed]] = 0.4
    return score, same, group


def said(table: Table, **known: object) -> str:
    score, same, group = table
    return str(audit(score, same, groups={"race": group}, threshold=0.5, **known))  # type: ignore[arg-type]


def strangers(n: int = 6000) -> tuple[np.ndarray, np.ndarray]:
    """Nobody is met twice; genuine pairs show one person."""
    left = np.array([f"a{k}" for k in range(n)])
    right = np.where(np.arange(n) % 2 == 0, left, np.array([f"b{k}" for k in range(n)]))
    return left, right


def test_a_sure_difference_names_both_groups_the_bound_and_the_counts() -> None:
    text = said(matcher(), identities=strangers())
    assert "sure:    At 0.5: 66 of 3,000 impostor pairs were accepted (FMR 2.2 %, " in text
    assert "Accepted at 0.5: asian 60 of 1,500 impostor pairs, white 6 of 1,500." in text
    assert "sure:    At 0.5: the FMR of asian is at least 4.3 times that of white (asian 60 of 1,500, white 6" in text
    assert "unclear: At 0.5: no difference of FNMR is established (asian 30 of 1,500, white 30 of 1,500" in text
    assert "not known who" not in text


def test_where_every_pair_is_accepted_the_rate_is_said_once() -> None:
    score, same, group = matcher()
    accepted = audit(score, same, groups={"race": group}, threshold=float(score.min()))
    assert "(FMR 100 %, 99.9 % to 100 %); " in str(accepted), "3,000 impostor pairs do not show more"
    many = [np.tile(part, 20) for part in (score, same, group)]
    accepted = audit(many[0], many[1], groups={"race": many[2]}, threshold=float(score.min()))
    assert "60,000 of 60,000 impostor pairs were accepted (FMR 100 %); 0 of 60,000 genuine" in str(accepted)
    assert "(FNMR 0 %, 0 % to " in str(accepted)
    assert "100 % [" not in accepted.to_html()


def test_where_people_are_unknown_it_says_so_first_and_bounds_for_people_who_vary() -> None:
    lines = said(matcher()).splitlines()
    assert "It is not known who is on the images" in lines[0]
    (claim,) = [line for line in lines if "the FMR of" in line]
    assert "is at least 4.3 times that of white if pairs are independent, and at least 2" in claim
    assert "if the choice of people changes a group's rate by 30 %" in claim


def test_what_only_identities_would_tell_is_unclear() -> None:
    text = said(matcher(false_matches=(60, 33)))
    assert "unclear: At 0.5: asian 60 of 1,500, white 33 of 1,500 impostor pairs were accepted. Cannot be told" in text
    assert "Cannot be told: established only if the choice of people changes a group's rate by less than" in text
    assert "Identities would tell." in text
    assert "the FMR of" not in text


def test_how_many_more_pairs_a_difference_takes() -> None:
    text = said(matcher(false_matches=(12, 6)), identities=strangers())
    assert "no difference of FMR is established (asian 12 of 1,500, white 6 of 1,500" in text
    assert "times as many people and pairs would establish it." in text


def test_a_level_that_needs_more_impostors_says_nothing_else() -> None:
    score, same, group = matcher()
    found = audit(score, same, groups={"race": group}, identities=strangers(), fmr=(1e-4,))
    told = [finding for finding in found.findings if "1e-4" in finding.text]
    assert [finding.kind for finding in told] == ["unclear"]
    assert "too few impostor pairs: all 3,000 (FMR below " in told[0].text
    assert "at least 29,956 are needed." in told[0].text


def test_probabilities_that_are_wrong_in_one_group_are_named() -> None:
    rng = np.random.default_rng(0)
    n = 8000
    group = np.repeat(["asian", "white"], n // 2)
    logit = rng.normal(0, 2, n)
    same = rng.random(n) < 1 / (1 + np.exp(-logit))
    given = 1 / (1 + np.exp(-logit - 1.0 * (group == "asian")))
    left = np.array([f"a{k}" for k in range(n)])
    right = np.where(same, left, np.array([f"b{k}" for k in range(n)]))
    found = audit(logit, same, groups={"race": group}, identities=(left, right), probability=given)
    (claim,) = [finding.text for finding in found.findings if "probabilities are" in finding.text]
    assert claim.startswith("The given probabilities are too high for asian (said 0.6")
    assert "white" not in claim


def test_genuine_pairs_at_the_level_of_impostors_are_noted() -> None:
    score, same, group = matcher()
    score[np.flatnonzero(same & (group == "white"))[:60]] = 0.0
    text = str(audit(score, same, groups={"race": group}))
    assert "Genuine pairs that score like impostors: white 8 %. Labels may be wrong" in text


def test_pairs_across_groups_are_counted() -> None:
    score, same, group = matcher()
    other = group.copy()
    other[1:200:2] = "white"
    assert "By race: 2,900 impostor pairs are inside a group, 100 across groups." in said((score, same, (group, other)))  # type: ignore[arg-type]
    assert "0 in none. Pairs across groups were not tested." in said((score, same, group))


def test_without_labels_nothing_is_said_about_errors() -> None:
    assert str(audit([0.1, 0.2, 0.3], None)) == "note:    There are no labels: no error rate can be measured."


def test_nothing_is_called_fair() -> None:
    text = said(matcher()).casefold()
    assert not any(word in text for word in (" fair", "bias", "pass", "fail"))


@pytest.mark.parametrize(
    ("bound", "text"), [(1.698, "1.6"), (2.0, "2.0"), (3.787, "3.7"), (12.9, "12"), (127.0, "120"), (1.1, "1.1")]
)
def test_bounds_are_rounded_down_to_two_digits(bound: float, text: str) -> None:
    assert rounded_down(bound) == text
    assert float(text) <= bound


def test_rates_and_levels_in_words() -> None:
    assert [percent(share) for share in (0.0, 0.5, 0.00123456, 1.0)] == ["0 %", "50 %", "0.123 %", "100 %"]
    assert [level_text(level) for level in (1e-3, 0.01, 0.025, "current")] == ["1e-3", "1e-2", "0.025", "current"]
