"""The stand-ins: structure, determinism, settings, and how near the raw cosine is to the published error rates."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import yaml
from sklearn.metrics import roc_auc_score, roc_curve

from fairfr.core.config import from_mapping
from fairfr.core.errors import ConfigError
from fairfr.core.types import VerificationSet
from fairfr.data.benchmark_structure import make_structure
from fairfr.data.settings import BackboneSettings, DatasetSettings
from fairfr.data.synthetic import BackboneModel, StandIn, generate_standin, standin_digest

CONF = Path(__file__).parents[3] / "conf"
SETS = ("rfw", "bfw", "lfw")
SMALL = 0.04


@cache
def settings_of(dataset: str) -> DatasetSettings:
    return from_mapping(DatasetSettings, yaml.safe_load((CONF / "dataset" / f"{dataset}.yaml").read_text()))


def standin_of(dataset: str, **changes: object) -> StandIn:
    standin = settings_of(dataset).standin
    assert standin is not None
    return replace(standin, **changes)


@cache
def made(dataset: str, backbone: str = "magface", scale: float = SMALL) -> VerificationSet:
    return generate_standin(dataset, backbone, standin_of(dataset, scale=scale), settings_of(dataset).grouping)


def vectors_of(data: VerificationSet) -> np.ndarray:
    assert data.embeddings is not None
    return data.embeddings.vectors


def cosine_of(data: VerificationSet) -> np.ndarray:
    vectors = vectors_of(data)
    return np.einsum("ij,ij->i", vectors[data.pairs.left], vectors[data.pairs.right]).astype(np.float64)


def pair_keys(data: VerificationSet) -> np.ndarray:
    left, right = data.pairs.left.astype(np.int64), data.pairs.right.astype(np.int64)
    return np.minimum(left, right) * len(data.images) + np.maximum(left, right)


def folds_of_people(data: VerificationSet) -> int:
    ends = np.concatenate([data.identity[data.pairs.left], data.identity[data.pairs.right]])
    people_and_fold = np.unique(np.stack([ends, np.tile(data.fold, 2)]), axis=1)
    return int(np.bincount(people_and_fold[0]).max())


def mixed_share(data: VerificationSet) -> float:
    assert data.grouping is not None
    return float((data.groupings[data.grouping].of(data.pairs, "both") == -1)[~data.same].mean())


# -- structure ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.02, SMALL])
@pytest.mark.parametrize("dataset", SETS)
def test_labels_say_same_identity_and_no_pair_repeats(dataset: str, scale: float) -> None:
    data = made(dataset, scale=scale)
    assert (data.same == (data.identity[data.pairs.left] == data.identity[data.pairs.right])).all()
    assert len(np.unique(pair_keys(data))) == data.n_pairs
    assert (data.pairs.left != data.pairs.right).all()


@pytest.mark.parametrize("scale", [0.02, SMALL])
@pytest.mark.parametrize(("dataset", "labels"), [("rfw", "0123456789"), ("bfw", "12345"), ("lfw", "0123456789")])
def test_every_fold_has_both_classes(dataset: str, labels: str, scale: float) -> None:
    data = made(dataset, scale=scale)
    assert data.fold_labels == tuple(labels)
    for fold in range(len(labels)):
        assert set(data.same[data.fold == fold]) == {False, True}


def test_true_size_of_rfw() -> None:
    made_of = make_structure("rfw", 1.0, 6, np.random.default_rng(0))
    group = made_of.group[made_of.identity]
    same = made_of.identity[made_of.left] == made_of.identity[made_of.right]
    cells = np.stack([made_of.fold, group[made_of.left], same])
    assert (len(made_of.identity), len(made_of.left)) == (40_600, 24_000)
    assert (np.unique(cells, axis=1, return_counts=True)[1] == 300).all()
    assert (group[made_of.left] == group[made_of.right]).all()
    subgroup = made_of.subgroup[made_of.identity]
    near = (subgroup[made_of.left] == subgroup[made_of.right])[~same].mean()
    assert near == pytest.approx(0.5 + 0.5 / 6, abs=0.02)  # half on purpose, the other half by chance


def test_true_size_of_bfw() -> None:
    made_of = make_structure("bfw", 1.0, 6, np.random.default_rng(0))
    identity, group = made_of.identity, made_of.group[made_of.identity]
    same = identity[made_of.left] == identity[made_of.right]
    assert (np.bincount(identity) == 25).all()
    assert (np.bincount(made_of.group) == 100).all()
    assert (len(identity), len(same), same.sum()) == (20_000, 924_000, 240_000)
    assert (group[made_of.left] != group[made_of.right])[~same].mean() == pytest.approx(0.5)
    low, high = np.minimum(made_of.left, made_of.right), np.maximum(made_of.left, made_of.right)
    assert len(np.unique(low * len(identity) + high)) == len(same)


def test_true_size_of_lfw() -> None:
    data = made("lfw", scale=1.0)
    assert len(data.images) == pytest.approx(7_700, abs=150)
    assert (np.unique(np.stack([data.fold, data.same]), axis=1, return_counts=True)[1] == 300).all()
    shares = np.bincount(data.groupings["ethnicity_x_gender"].codes) / len(data.images)
    assert len(shares) == 8
    assert shares.max() > 15 * shares.min()
    assert 0.6 < mixed_share(data) < 0.7


def test_people_stay_in_one_fold_except_in_rfw() -> None:
    assert folds_of_people(made("bfw")) == folds_of_people(made("lfw")) == 1
    assert folds_of_people(made("rfw")) > 1


def test_rfw_has_no_mixed_pairs() -> None:
    assert mixed_share(made("rfw")) == 0


def test_a_small_bfw_keeps_every_genuine_pair_and_half_of_the_impostors_mixed() -> None:
    data = made("bfw")
    images = np.bincount(data.identity)
    assert data.same.sum() == (images * (images - 1) // 2).sum()
    assert data.same.mean() == pytest.approx(240 / 924, abs=0.005)
    assert mixed_share(data) == pytest.approx(0.5)


def test_images_say_that_they_are_synthetic_and_are_unique() -> None:
    data = made("bfw")
    assert data.source == "synthetic"
    assert all(image.startswith("synthetic/") for image in data.images)
    assert len(set(data.images)) == len(data.images)
    group = data.groupings["ethnicity_x_gender"]
    assert data.images[0].split("/")[1] == group.levels[group.codes[0]]


# -- vectors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dataset", SETS)
def test_vectors_are_unit_rows_and_read_only(dataset: str) -> None:
    data = made(dataset)
    vectors = vectors_of(data)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(data.images), 512)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for array in (vectors, data.images, data.identity, data.pairs.left, data.pairs.right, data.same, data.fold):
        assert not array.flags.writeable


def test_no_axis_stands_out() -> None:
    spread = vectors_of(made("rfw", scale=0.1)).std(axis=0)
    assert spread.max() < 2.5 * spread.min()  # unrotated: hundreds


# noise of one length, so that poor images differ from their person's others by it alone, not by how far they drift
EVEN_NOISE = BackboneModel(
    40.0, 1.0, noise_spread=0.0, hard_share=0.0, gap=1.0, crowding=0.3, drift=0, subgroup_slope=0.4
)


@pytest.mark.parametrize(
    ("model", "constants"),
    [
        ({"crowding": 0.8}, {"subgroup_distance": 0.0}),  # places of groups alone
        ({"crowding": 0.8}, {"subgroup_distance": 100.0}),  # of sub-groups alone
        ({"crowding": 0.0, "drift": 3.0}, {"crowding_spread": 0.0}),  # of poor images
    ],
    ids=["groups", "subgroups", "drift"],
)
def test_places_lie_where_the_noise_is(model: dict[str, float], constants: dict[str, float]) -> None:
    standin = standin_of("rfw", scale=0.1, backbones={"net": replace(EVEN_NOISE, **model)}, **constants)
    data = generate_standin("rfw", "net", standin, ("ethnicity",))
    group = data.groupings["ethnicity"]
    hardest = group.codes == group.levels.index("asian")
    vectors, person = (
        vectors_of(data)[hardest].astype(np.float64),
        np.unique(data.identity[hardest], return_inverse=True)[1],
    )
    place = vectors.mean(axis=0)
    of_person = np.stack([np.bincount(person, weights=column) for column in vectors.T], axis=1)
    noise = vectors - (of_person / np.bincount(person)[:, None])[person]
    assert np.linalg.norm(place) > 0.2  # there is a place to speak of
    along_place = ((noise @ place) ** 2).mean() / (place @ place)
    along_any = (noise**2).sum(axis=1).mean() / 512
    assert along_place > 4 * along_any  # 512 / 40 = 13 in the noise's own spectrum, 1 in a direction of no spectrum


def test_the_same_seed_gives_the_same_bytes() -> None:
    again = generate_standin("lfw", "magface", standin_of("lfw", scale=SMALL), ("ethnicity", "gender"))
    assert vectors_of(again).tobytes() == vectors_of(made("lfw")).tobytes()
    assert again.pairs.left.tobytes() == made("lfw").pairs.left.tobytes()
    assert again.digest == made("lfw").digest


def test_backbones_share_images_and_pairs_but_no_draws() -> None:
    standin = standin_of("lfw", scale=SMALL)
    twins = replace(standin, backbones=dict.fromkeys(["one", "two"], standin.backbones["magface"]))
    one, two = (generate_standin("lfw", name, twins, ()) for name in ("one", "two"))
    assert (one.images == two.images).all()
    assert (pair_keys(one) == pair_keys(two)).all()
    assert abs(np.corrcoef(vectors_of(one).ravel(), vectors_of(two).ravel())[0, 1]) < 0.1


def test_another_seed_gives_other_pairs() -> None:
    other = generate_standin("bfw", "magface", standin_of("bfw", scale=SMALL, seed=1234), ())
    assert (pair_keys(other) != pair_keys(made("bfw"))).mean() > 0.5


# -- settings ----------------------------------------------------------------------------------------------------------


def test_the_digest_names_all_that_is_used_and_nothing_else() -> None:
    standin = standin_of("lfw")
    digest = standin_digest("lfw", "magface", standin)
    not_numbers = ("structure", "difficulty", "backbones", "own_difficulty")
    constants = [f.name for f in fields(StandIn) if f.name not in not_numbers]
    changed = [replace(standin, **{name: 0.5 + 0.25 * getattr(standin, name)}) for name in constants]
    changed.append(replace(standin, difficulty={**standin.difficulty, "asian_male": 0.123}))
    model = standin.backbones["magface"]
    for name in (f.name for f in fields(BackboneModel)):
        other = replace(model, **{name: getattr(model, name) * 1.01})
        changed.append(replace(standin, backbones={**standin.backbones, "magface": other}))
    digests = {standin_digest("lfw", "magface", each) for each in changed}
    assert len(digests) == len(changed)
    assert digest not in digests
    alone = replace(standin, backbones={"magface": model})
    assert standin_digest("lfw", "magface", alone) == digest
    assert standin_digest("lfw", "adaface", standin) != digest


def test_the_set_carries_its_digest() -> None:
    data = made("lfw")
    assert data.embeddings is not None
    assert data.digest == data.embeddings.digest == standin_digest("lfw", "magface", standin_of("lfw", scale=SMALL))


@pytest.mark.parametrize(
    ("grouping", "known", "used"),
    [
        ((), set(), None),
        (("gender",), {"gender"}, "gender"),
        (("ethnicity", "gender"), {"ethnicity", "gender", "ethnicity_x_gender"}, "ethnicity_x_gender"),
    ],
)
def test_groupings_are_the_attributes_and_their_product(
    grouping: tuple[str, ...], known: set[str], used: str | None
) -> None:
    data = generate_standin("bfw", "magface", standin_of("bfw", scale=0.02), grouping)
    assert set(data.groupings) == known
    assert data.grouping == used


def test_levels() -> None:
    assert made("rfw").groupings["ethnicity"].levels == ("african", "asian", "caucasian", "indian")
    assert made("bfw").groupings["ethnicity"].levels == ("asian", "black", "indian", "white")
    assert made("lfw").groupings["gender"].levels == ("female", "male")
    assert len(made("lfw", scale=1.0).groupings["ethnicity_x_gender"].levels) == 8


def test_an_unknown_backbone_is_named_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"no backbone 'magfaec'.*Did you mean 'magface'\?.*arcface_r100"):
        generate_standin("rfw", "magfaec", standin_of("rfw"), ())


def test_an_unknown_attribute_is_named_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"no attribute 'gender'.*Known: ethnicity"):
        generate_standin("rfw", "magface", standin_of("rfw", scale=0.02), ("ethnicity", "gender"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"scale": 0.0}, "scale"), ({"scale": 1.5}, "scale"), ({"difficulty": {"asian": 1.0}}, "african")],
)
def test_settings_that_make_no_set_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        standin_of("rfw", **changes)


@pytest.mark.parametrize("path", sorted((CONF / "backbone").glob("*.yaml")), ids=lambda path: path.stem)
def test_backbone_files_are_named_after_their_id(path: Path) -> None:
    settings = from_mapping(BackboneSettings, yaml.safe_load(path.read_text()))
    assert path.stem in ("custom", "scores") or settings.id == path.stem


# of the 16 sets of the paper's tables: stored runs are named by them, so a change must be meant
DIGESTS = {
    ("rfw", "arcface_r100"): "6e99c1d3572e3aca",
    ("rfw", "adaface"): "bc44c73b588269a0",
    ("rfw", "magface"): "2e2463cd21616fcf",
    ("rfw", "arcface_r50"): "7b084c21948744c4",
    ("rfw", "facenet"): "a2d37b8b535beb17",
    ("bfw", "arcface_r100"): "884da2494c582008",
    ("bfw", "adaface"): "75c916fa52eef2c4",
    ("bfw", "magface"): "c44ca3a8c42c1ec8",
    ("bfw", "arcface_r50"): "61becfd5fa959171",
    ("bfw", "facenet"): "be9b8d62df039e51",
    ("lfw", "arcface_r100"): "5bebe5b4cfcab045",
    ("lfw", "adaface"): "6786edd5af07d949",
    ("lfw", "magface"): "ef8e0de7835fba3a",
    ("lfw", "arcface_r50"): "b333517b0526286f",
    ("lfw", "facenet"): "577798cf7ab6a97f",
    ("lfw", "arcface_fairface"): "73c1d6a4a9aa0664",
}
# worst-group AUROC of Platt in the paper's component study; None: a set of its other studies
STUDY = {
    ("rfw", "arcface_original"): 0.9600,
    ("rfw", "arcface_r100_aligned"): 0.9903,
    ("rfw", "facenet_casia"): 0.8122,
    ("rfw", "facenet_vggface2"): 0.8728,
    ("bfw", "sphereface"): 0.9372,
    ("bfw", "arcface_r50_aligned"): 0.9448,
    ("bfw", "adaface_aligned"): 0.9469,
    ("bfw", "vit_b"): 0.9461,
    ("lfw", "adaface_aligned"): 0.9906,
    ("lfw", "vit_b"): 0.9907,
    ("lfw", "arcface_r50_aligned"): None,
    ("lfw", "arcface_original"): None,
    ("lfw", "facenet_casia"): None,
}


def test_the_sets_of_the_tables_keep_their_digests() -> None:
    found = {(name, b): standin_digest(name, b, standin_of(name))[:16] for name, b in DIGESTS}
    assert found == DIGESTS


def test_every_set_knows_the_backbones_of_the_paper() -> None:
    found = {(name, backbone) for name in SETS for backbone in standin_of(name).backbones}
    assert found == {*DIGESTS, *STUDY}


def test_a_difficulty_of_its_own_is_used_and_named_for_that_backbone_alone() -> None:
    standin = standin_of("rfw", scale=0.02)
    flat = dict.fromkeys(standin.difficulty, 0.0)
    changed = replace(standin, own_difficulty={"magface": flat})
    same_as = replace(standin, difficulty=flat, own_difficulty={})
    one, two = (generate_standin("rfw", "magface", each, ()) for each in (changed, same_as))
    assert vectors_of(one).tobytes() == vectors_of(two).tobytes()
    assert one.digest == two.digest != made("rfw", scale=0.02).digest
    assert standin_digest("rfw", "adaface", changed) == standin_digest("rfw", "adaface", standin)
    with pytest.raises(ConfigError, match=r"own_difficulty\.magface must name the groups of rfw.*found asian"):
        replace(standin, own_difficulty={"magface": {"asian": 1.0}})


# -- eyeglasses --------------------------------------------------------------------------------------------------------


def with_eyeglasses(*grouping: str, scale: float = 1.0) -> VerificationSet:
    return generate_standin("lfw", "magface", standin_of("lfw", scale=scale), grouping)


def test_eyeglasses_are_a_persons_and_not_always_known() -> None:
    data = with_eyeglasses("eyeglasses")
    glasses = data.groupings["eyeglasses"]
    assert glasses.levels == ("no", "yes") and data.grouping == "eyeglasses"
    _, first = np.unique(data.identity, return_index=True)
    of_person = np.full(data.identity.max() + 1, -9)
    of_person[data.identity[first]] = glasses.codes[first]
    assert (of_person[data.identity] == glasses.codes).all()
    shares = [np.mean(glasses.codes[first] == code) for code in (0, 1, -1)]
    np.testing.assert_allclose(shares, [0.8, 0.1, 0.1], atol=0.02)
    ethnicity = made("lfw", scale=1.0).groupings["ethnicity"].codes
    by_ethnicity = [np.mean(glasses.codes[first][ethnicity[first] == code] == 1) for code in range(4)]
    np.testing.assert_allclose(by_ethnicity, 0.1, atol=0.05)


def test_asking_for_eyeglasses_changes_nothing_else() -> None:
    plain, asked = made("lfw"), with_eyeglasses("ethnicity", "gender", "eyeglasses", scale=SMALL)
    assert vectors_of(asked).tobytes() == vectors_of(plain).tobytes()
    assert asked.digest == plain.digest
    assert (asked.images == plain.images).all() and (pair_keys(asked) == pair_keys(plain)).all()
    for attribute in ("ethnicity", "gender"):
        assert (asked.groupings[attribute].codes == plain.groupings[attribute].codes).all()
    product = asked.groupings["ethnicity_x_gender_x_eyeglasses"]
    assert "white_male_yes" in product.levels
    assert ((product.codes == -1) == (asked.groupings["eyeglasses"].codes == -1)).all()


def test_only_lfw_has_eyeglasses() -> None:
    with pytest.raises(ConfigError, match=r"bfw has no attribute 'eyeglasses'.*ethnicity, gender"):
        generate_standin("bfw", "magface", standin_of("bfw", scale=0.02), ("eyeglasses",))


# -- fidelity: the raw cosine against the paper's printed Baseline (headline tables), pairs by their first image -------

TOLERANCE = {"rfw": (0.005, 0.015, 0.06), "lfw": (0.01, 0.015, 0.06)}
PUBLISHED = {  # AUROC, worst AUROC, TPR at FPR 1e-3
    ("rfw", "arcface_r100"): (0.974, 0.963, 0.617),
    ("rfw", "adaface"): (0.984, 0.976, 0.708),
    ("rfw", "magface"): (0.956, 0.941, 0.496),
    ("lfw", "arcface_r100"): (0.971, 0.916, 0.629),
    ("lfw", "adaface"): (0.990, 0.972, 0.887),
    ("lfw", "magface"): (0.955, 0.848, 0.507),
}


def baseline_of_fold(same: np.ndarray, cosine: np.ndarray, group: np.ndarray) -> tuple[float, float, float]:
    worst = []
    for g in np.unique(group):
        rows = group == g
        if rows.sum() >= 20 and 0 < same[rows].sum() < rows.sum():
            worst.append(roc_auc_score(same[rows], cosine[rows]))
    fpr, tpr, _ = roc_curve(same, cosine)
    return roc_auc_score(same, cosine), min(worst), float(np.interp(1e-3, fpr, tpr))


@pytest.mark.parametrize(("dataset", "backbone"), PUBLISHED)
def test_raw_cosine_is_near_the_published_baseline(dataset: str, backbone: str) -> None:
    data = made(dataset, backbone, scale=1.0)
    assert data.grouping is not None
    cosine, group = cosine_of(data), data.groupings[data.grouping].of(data.pairs, "first")
    folds = [data.fold == fold for fold in range(10)]
    values = np.mean([baseline_of_fold(data.same[f], cosine[f], group[f]) for f in folds], axis=0)
    misses = np.abs(values - PUBLISHED[dataset, backbone]) / TOLERANCE[dataset]
    assert misses.max() < 1, values


@pytest.mark.parametrize(("dataset", "backbone"), [key for key in STUDY if key[0] == "rfw"])
def test_sets_of_the_component_study_are_near_its_platt_column(dataset: str, backbone: str) -> None:
    data = made(dataset, backbone, scale=1.0)
    cosine, group = cosine_of(data), data.groupings["ethnicity"].of(data.pairs, "both")
    folds = [data.fold == fold for fold in range(10)]
    worst = np.mean([baseline_of_fold(data.same[f], cosine[f], group[f])[1] for f in folds])
    # one set cannot have its Platt figures and the gain of AC-Linear at the same time (docs/lab/standin.md)
    tolerance = 0.01 if backbone == "facenet_casia" else 0.002
    assert worst == pytest.approx(STUDY[dataset, backbone], abs=tolerance)


def false_matches(data: VerificationSet, group: str) -> int:
    """Impostors of ``group`` among the hundredth of all impostors with the largest cosine."""
    grouping, cosine = data.groupings["ethnicity"], cosine_of(data)
    of_pair = grouping.of(data.pairs, "both")
    accepted = cosine > np.quantile(cosine[~data.same], 0.99)
    return int((accepted & ~data.same & (of_pair == grouping.levels.index(group))).sum())


def test_the_hardest_group_of_rfw_has_more_false_matches_than_the_easiest() -> None:
    sets = [made("rfw", backbone, scale=1.0) for backbone in ("arcface_r100", "adaface", "magface")]
    asian, caucasian = (sum(false_matches(data, group) for data in sets) for group in ("asian", "caucasian"))
    assert asian > 1.3 * caucasian  # equal without crowding; one set alone has too few to tell
