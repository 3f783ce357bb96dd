"""``fairfr.audit`` on arrays: what it takes, what it refuses, and what its JSON and its table say."""

from __future__ import annotations

import json

import numpy as np
import pytest

import fairfr


def pairs(n: int = 2000, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    same = rng.random(n) < 0.3
    return {
        "score": (0.3 * rng.normal(size=n) + same).clip(-1, 2),
        "same": same,
        "group": rng.choice(["x", "y", ""], n),
        "left": np.array([f"person-{k}" for k in rng.integers(500, size=n)]),
    }


def found(**more: object) -> fairfr.auditing.audit.Audit:  # type: ignore[name-defined]
    of = pairs()
    right = np.where(of["same"], of["left"], np.char.add(of["left"], "-other"))
    return fairfr.audit(
        of["score"], of["same"], groups={"g": of["group"]}, identities=(of["left"], right), threshold=0.5, **more
    )


def test_the_json_has_every_key_and_no_name_of_a_person() -> None:
    content = found().to_dict()
    text = json.dumps(content, allow_nan=False)
    assert "person-" not in text
    assert list(content) == [
        *("version", "created", "file", "pairs", "orientation", "confidence", "findings", "rates", "differentials"),
        "calibration",
    ]
    assert content["pairs"]["identities"] == "known"
    assert content["file"] == {"name": "arrays", "sha256": None, "rows": 2000}
    assert [row["level"] for row in content["rates"] if row["grouping"] is None] == ["current", 0.01, 0.001, 0.0001]
    assert set(content["rates"][0]) >= {"fmr", "fnmr_interval", "few", "pairs_needed", "at_impostor_level", "fmr_phi"}
    entry = content["differentials"][0]
    assert set(entry["fmr_at_least"]) == {
        *("higher", "lower", "x", "if_people_vary", "phi_at_one", "comparisons", "confidence"),
    }
    methods = {row["method"] for row in content["calibration"]}
    assert methods == {"platt", "beta", "isotonic", "score"}


def test_the_page_names_nobody() -> None:
    page = found().to_html()
    assert "person-" not in page
    assert "<script" not in page


def test_the_table_has_a_row_for_each_group_and_threshold() -> None:
    frame = found().to_frame()
    assert len(frame) == 4 * 3
    now = frame[(frame.level == "current") & (frame.group == "x")].iloc[0]
    of = pairs()
    x = (of["group"] == "x") & ~of["same"]
    assert now.false_matches == np.count_nonzero(of["score"][x] >= 0.5)
    assert now.impostors == np.count_nonzero(x)


def test_distances_give_the_same_rates_in_their_own_units() -> None:
    of = pairs()
    scores = fairfr.audit(of["score"], of["same"], threshold=0.5).to_dict()["rates"]
    distances = fairfr.audit(2 - of["score"], of["same"], threshold=1.5, distance=True).to_dict()["rates"]
    for one, other in zip(scores, distances, strict=True):
        assert one["fmr"] == other["fmr"]
        assert one["fnmr"] == other["fnmr"]
        assert one["threshold"] == pytest.approx(2 - other["threshold"])


def test_order_of_pairs_means_nothing() -> None:
    of = pairs()
    order = np.random.default_rng(1).permutation(2000)
    one = fairfr.audit(of["score"], of["same"], groups={"g": of["group"]}).to_dict()["rates"]
    two = fairfr.audit(of["score"][order], of["same"][order], groups={"g": of["group"][order]}).to_dict()["rates"]
    assert one == two


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"score": [[0.1, 0.2]]}, r"score must be numbers of shape \(n_pairs,\)"),
        ({"same": [1, 0]}, "same must have a label for each of the 4 pairs"),
        ({"same": [1, 1, 0, 2]}, r"1 row: the label cannot be read \(pairs 3, counting from 0\)"),
        ({"groups": {"g": ["a"]}}, r"groups\['g'\] must have one name for each"),
        ({"identities": ["a", "b", "c", "d"]}, "identities must be two arrays"),
        ({"score": [0.1, 0.2, 0.8, 0.9]}, r"impostors rank above genuine pairs \(AUROC 0.000\)"),
        ({"probability": [0.1, 0.2]}, r"probability must be numbers of shape \(4,\)"),
    ],
)
def test_what_does_not_fit_is_refused(wrong: dict[str, object], message: str) -> None:
    given: dict[str, object] = {"score": [0.9, 0.8, 0.2, 0.1], "same": [1, 1, 0, 0], **wrong}
    with pytest.raises(fairfr.DataError, match=message):
        fairfr.audit(given.pop("score"), given.pop("same"), **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "remedy"),
    [
        ({"score": [0.9, np.nan, 0.2, 0.1]}, "Correct score, or leave these pairs out of every array."),
        ({"same": [1, 1, 0, 2]}, "Correct same, or leave"),
        ({"probability": [0.9, 1.1, 0.2, 0.1]}, "Correct probability, or leave"),
        ({"identities": (list("aabc"), list("bacd"))}, "Correct same or identities, or leave"),
        ({"score": [0.1, 0.2, 0.8, 0.9]}, "distances: use distance=True."),
        ({"score": [0.9, 0.8, 0.2, 0.1], "distance": True}, "for more similar images: use distance=False."),
    ],
)
def test_what_to_do_about_arrays_names_arguments_and_no_option(wrong: dict[str, object], remedy: str) -> None:
    given: dict[str, object] = {"score": [0.9, 0.8, 0.2, 0.1], "same": [1, 1, 0, 0], **wrong}
    with pytest.raises(fairfr.DataError) as caught:
        fairfr.audit(given.pop("score"), given.pop("same"), **given)  # type: ignore[arg-type]
    assert remedy in str(caught.value)
    assert "--" not in str(caught.value)


def test_rates_that_are_none_are_refused() -> None:
    with pytest.raises(fairfr.ConfigError, match="fmr 2: a rate lies between 0 and 1"):
        fairfr.audit([0.9, 0.1], [1, 0], fmr=[2])
