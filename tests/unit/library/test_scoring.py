"""Scores of new pairs from files: those of the library, in blocks of any size, resumable, with errors that help."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fairfr
from fairfr.core.errors import DataError, FairfrError, StorageError, UnmetNeedError
from fairfr.library.scoring import Progress, ScoreOptions, score_pairs


class Heard(Progress):
    """Counts blocks; can pull the plug after some."""

    def __init__(self, stop_after: int = 10**9) -> None:
        self.before, self.blocks, self.stop_after = 0, 0, stop_after
        self.said: list[str] = []

    def start(self, blocks: int, done: int) -> None:
        self.total, self.before = blocks, done

    def block_done(self) -> None:
        self.blocks += 1
        if self.blocks == self.stop_after:
            raise KeyboardInterrupt

    def say(self, text: str) -> None:
        self.said.append(text)


def wanted(scene: Any, out: str = "scores.parquet", **changed: Any) -> ScoreOptions:
    return ScoreOptions(
        **{
            "model": scene / "model.fairfr",
            "pairs": scene / "new.csv",
            "embeddings": scene / "new.npz",
            "out": scene / out,
            "threads": 1,
            **changed,
        }
    )


def read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)


def close(found: Any, expected: Any) -> None:
    """But for the last bit, which depends on how many pairs are multiplied at once."""
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("block", [1, 7, 499, 500, 501, 2**18])
@pytest.mark.parametrize("out", ["scores.csv", "scores.parquet"])
def test_a_file_holds_what_the_library_gives(scene: Any, out: str, block: int) -> None:
    if block == 1:
        scene.pairs = scene.pairs[:5]
        scene.table().to_csv(scene / "new.csv", index=False)
    assert score_pairs(wanted(scene, out, block=block), Heard()) == len(scene.pairs)
    found = read(scene / out)
    assert found[["left", "right"]].to_numpy().tolist() == scene.ids[scene.pairs].tolist()
    close(found["probability"], scene.model.probability(scene.vectors, scene.pairs))
    close(found["score"], scene.model.decision_function(scene.vectors, scene.pairs))
    assert {path.name for path in scene.folder.iterdir()} == {"model.fairfr", "new.npz", "new.csv", out}


def test_pairs_may_be_parquet_with_categories(scene: Any) -> None:
    scene.table().astype("category").to_parquet(scene / "new.parquet", row_group_size=130)
    score_pairs(wanted(scene, pairs=scene / "new.parquet", block=90), Heard())
    close(read(scene / "scores.parquet")["probability"], scene.model.probability(scene.vectors, scene.pairs))


def test_an_interrupted_call_goes_on(scene: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        score_pairs(wanted(scene, block=100), Heard(stop_after=3))
    assert not (scene / "scores.parquet").exists()
    again = Heard()
    assert score_pairs(wanted(scene, block=100), again) == 500
    assert (again.before, again.blocks, again.total) == (3, 2, 5)
    close(read(scene / "scores.parquet")["probability"], scene.model.probability(scene.vectors, scene.pairs))


def test_what_other_inputs_left_is_not_used(scene: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        score_pairs(wanted(scene, block=100), Heard(stop_after=3))
    np.savez(scene / "new.npz", image=scene.ids, vectors=scene.vectors[::-1])
    again = Heard()
    score_pairs(wanted(scene, block=100), again)
    assert (again.before, again.blocks) == (0, 5)
    close(read(scene / "scores.parquet")["probability"], scene.model.probability(scene.vectors[::-1], scene.pairs))


def test_a_part_that_was_cut_short_does_not_count(scene: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        score_pairs(wanted(scene, block=100), Heard(stop_after=2))
    (scene / "scores.parquet.partial" / ".part-00000002.unfinished").write_bytes(b"PAR1 half of")
    score_pairs(wanted(scene, block=100), Heard())
    assert len(read(scene / "scores.parquet")) == 500


def test_two_do_not_write_one_file(scene: Any) -> None:
    class Second(Heard):
        def start(self, blocks: int, done: int) -> None:
            score_pairs(wanted(scene), Heard())

    with pytest.raises(StorageError, match="another process is writing"):
        score_pairs(wanted(scene), Second())


def test_a_full_disk_names_the_option(scene: Any) -> None:
    class Full(Heard):
        def block_done(self) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(StorageError, match=r"no space left on device\. Make room .* another place \(--out\)\.$"):
        score_pairs(wanted(scene), Full())


def test_cosines_are_enough_for_methods_of_scores(scene: Any) -> None:
    cosine = np.linspace(-1, 1, 41)
    model = fairfr.Platt().fit_scores(np.linspace(-0.2, 0.9, 50), np.arange(50) % 3 < np.arange(50) / 25)
    model.save(scene / "platt.fairfr")
    pd.DataFrame({"cosine": cosine}).to_csv(scene / "cosines.csv", index=False)
    given = wanted(scene, "s.csv", model=scene / "platt.fairfr", pairs=scene / "cosines.csv", embeddings=None)
    score_pairs(given, Heard())
    np.testing.assert_allclose(read(scene / "s.csv")["probability"], model.probability_scores(cosine), rtol=1e-14)
    with pytest.raises(UnmetNeedError, match="--embeddings"):
        score_pairs(wanted(scene, pairs=scene / "cosines.csv", embeddings=None), Heard())
    pd.DataFrame({"cosine": [1.0000001, -1.0000001]}).to_csv(scene / "cosines.csv", index=False)  # rounding
    score_pairs(given, Heard())
    close(read(scene / "s.csv")["probability"], model.probability_scores([1.0, -1.0]))
    pd.DataFrame({"cosine": [0.1, 7.0]}).to_csv(scene / "cosines.csv", index=False)
    with pytest.raises(DataError, match=r"cosines.csv, line 3: cosine is 7, but a cosine lies within -1..1"):
        score_pairs(given, Heard())


def test_scores_on_another_scale_are_read_on_it(scene: Any) -> None:
    scores = np.linspace(0, 100, 41)
    same = np.random.default_rng(0).random(41) < scores / 100
    model = fairfr.Platt().fit_scores(scores, same, score_range=(0, 100))
    model.save(scene / "percent.fairfr")
    pd.DataFrame({"cosine": scores}).to_csv(scene / "scores.csv", index=False)
    given = {"model": scene / "percent.fairfr", "pairs": scene / "scores.csv"}
    score_pairs(wanted(scene, "s.csv", embeddings=None, **given), Heard())
    close(read(scene / "s.csv")["probability"], model.probability_scores(scores))
    pd.DataFrame({"cosine": [50, 100.1]}).to_csv(scene / "scores.csv", index=False)
    with pytest.raises(DataError, match=r"scores.csv, line 3: cosine is 100\.1, but score_range .* within 0\.\.100"):
        score_pairs(wanted(scene, "s.csv", embeddings=None, **given), Heard())
    with pytest.raises(DataError, match=r"fitted on scores within 0\.\.100"):
        score_pairs(wanted(scene, "t.csv", model=scene / "percent.fairfr"), Heard())


def test_a_prior_gives_its_probability_and_the_likelihood_ratio(scene: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        score_pairs(wanted(scene, block=100), Heard(stop_after=3))
    again = Heard()
    score_pairs(wanted(scene, block=100, prior=0.01), again)
    assert again.before == 0  # what was scored without it is not used
    found = read(scene / "scores.parquet")
    assert list(found) == ["left", "right", "note", "score", "probability", "llr"]
    close(found["probability"], scene.model.probability(scene.vectors, scene.pairs, prior=0.01))
    np.testing.assert_allclose(found["llr"], scene.model.llr(scene.vectors, scene.pairs), rtol=1e-9)
    with pytest.raises(DataError, match=r"prior is 1\.5"):
        score_pairs(wanted(scene, prior=1.5), Heard())


def test_groups_come_from_a_table_of_images(scene: Any) -> None:
    half = np.where(np.arange(len(scene.ids)) % 2 == 0, "even", "odd")
    half[:5] = ""
    model = fairfr.Oracle().fit(scene.vectors, *scene.training, groups={"half": half})
    model.save(scene / "oracle.fairfr")
    asked = wanted(scene, model=scene / "oracle.fairfr", images=scene / "images.csv")
    with pytest.raises(UnmetNeedError, match=r"needs 'half' of every image: --image-table"):
        score_pairs(wanted(scene, model=scene / "oracle.fairfr"), Heard())
    # in another order, without the images whose group is unknown
    pd.DataFrame({"image": scene.ids, "half": half})[:4:-1].to_csv(scene / "images.csv", index=False)
    score_pairs(asked, Heard())
    expected = model.probability(scene.vectors, scene.pairs, groups={"half": half})
    np.testing.assert_allclose(read(scene / "scores.parquet")["probability"], expected, rtol=1e-12)


def test_mistakes_are_told_before_anything_is_written(scene: Any) -> None:
    bad = scene.table()
    bad.loc[321, "right"] = "nobody.jpg"
    bad.to_csv(scene / "bad.csv", index=False)
    (scene / "empty.csv").write_text("left,right\n")
    (scene / "ragged.csv").write_text("left,right\na,b\nc\n")
    np.savez(scene / "wide.npz", image=scene.ids, vectors=np.ones((len(scene.ids), 9), dtype=np.float32))
    cases: list[tuple[dict[str, Any], str]] = [
        (
            {"pairs": scene / "bad.csv", "block": 50},
            r"bad.csv, line 323: right image 'nobody.jpg' has no vector in",
        ),
        ({"pairs": scene / "empty.csv"}, "has no pairs"),
        ({"pairs": scene / "ragged.csv"}, "Expected 2 columns, got 1"),
        ({"pairs": scene / "no.csv"}, r"no.csv does not exist"),
        ({"pairs": scene / "new.npz"}, "zip archive"),
        ({"embeddings": scene / "wide.npz"}, "width 9, but the model was fitted on width 8"),
        ({"model": scene / "new.csv"}, "not a fairfr model"),
        ({"model": scene / "none.fairfr"}, "none.fairfr"),
        ({"out": scene / "scores.txt"}, "parquet or .csv"),
        ({"out": scene / "no" / "scores.csv"}, "there is no folder"),
        ({"block": 0}, "at least 1"),
    ]
    for changed, message in cases:
        with pytest.raises(FairfrError, match=message):
            score_pairs(wanted(scene, **changed), Heard())
        assert not (scene / "scores.parquet").exists()


def test_a_missing_column_is_named(scene: Any) -> None:
    scene.table().rename(columns={"left": "Left"}).to_csv(scene / "new.csv", index=False)
    with pytest.raises(DataError, match=r"no column 'left'\. Did you mean 'Left'"):
        score_pairs(wanted(scene), Heard())


def test_images_unlike_those_of_training_are_told(tmp_path: Path) -> None:
    """As a plain line, or as a warning where they are many; nothing by methods that cannot tell."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(150), 3)
    vectors = rng.normal(size=(150, 6))[person] + 0.3 * rng.normal(size=(450, 6)) + 2 * np.eye(6)[0]
    pairs = np.column_stack([np.arange(450), rng.permutation(np.roll(np.arange(450), 1))])
    pairs[:300, 1] = pairs[:300, 0] // 3 * 3 + (pairs[:300, 0] + 1) % 3
    same = person[pairs[:, 0]] == person[pairs[:, 1]]
    names = np.array([f"i{n}" for n in range(450)])
    pd.DataFrame({"left": names[pairs[:, 0]], "right": names[pairs[:, 1]]}).to_csv(tmp_path / "new.csv", index=False)
    said = {}
    for what, new in (("same", vectors), ("other", -vectors)):
        np.savez(tmp_path / f"{what}.npz", image=names, vectors=new)
        for method in (fairfr.ACCohort, fairfr.ACHinge):
            method().fit(vectors, pairs, same).save(tmp_path / "model.fairfr", with_faces=True)
            heard = Heard()
            out = tmp_path / f"{what}_{method.__name__}.csv"
            paths = (tmp_path / "model.fairfr", tmp_path / "new.csv", out, tmp_path / f"{what}.npz")
            score_pairs(ScoreOptions(*paths), heard)
            said[what, method.__name__] = heard.said
    (plain,), (warning,) = said["same", "ACCohort"], said["other", "ACCohort"]
    assert "of 450 images" in plain and "warning" not in plain
    assert warning.startswith("warning: ") and "unlabelled images of these people in the cohort" in warning
    assert said["same", "ACHinge"] == said["other", "ACHinge"] == []


@pytest.mark.parametrize("out", ["scores.csv", "scores.parquet"])
@pytest.mark.parametrize("source", ["new.csv", "new.parquet"])
def test_other_columns_are_passed_on(scene: Any, source: str, out: str) -> None:
    table = scene.table().assign(age=np.arange(500), score=0.5, kind=pd.Categorical(["x", "y"] * 250))
    if source == "new.csv":
        table.to_csv(scene / source, index=False)
    else:
        table.assign(nested=[[1]] * 500).to_parquet(scene / source)
    score_pairs(wanted(scene, out, pairs=scene / source, block=90), Heard())
    found = read(scene / out)
    assert list(found) == ["left", "right", "note", "age", "given_score", "kind", "score", "probability"]
    assert found["note"].tolist() == ["a, b"] * 500
    assert found["age"].astype(int).tolist() == list(range(500))
    assert found["given_score"].astype(float).tolist() == [0.5] * 500
    assert found["kind"].tolist() == ["x", "y"] * 250
    close(found["score"], scene.model.decision_function(scene.vectors, scene.pairs))


def test_scores_may_have_any_name(scene: Any) -> None:
    cosine = np.linspace(-1, 1, 41)
    model = fairfr.Platt().fit_scores(np.linspace(-0.2, 0.9, 50), np.arange(50) % 3 < np.arange(50) / 25)
    model.save(scene / "platt.fairfr")
    pd.DataFrame({"cosine": 0.0, "mine": cosine}).to_csv(scene / "mine.csv", index=False)
    given = {"model": scene / "platt.fairfr", "pairs": scene / "mine.csv", "embeddings": None, "score": "mine"}
    score_pairs(wanted(scene, "s.csv", **given), Heard())
    found = read(scene / "s.csv")
    close(found["probability"], model.probability_scores(cosine))
    assert found["mine"].tolist() == pytest.approx(cosine.tolist())
    with pytest.raises(DataError, match=r"no column 'min'\. Did you mean 'mine'"):
        score_pairs(wanted(scene, "t.csv", **given | {"score": "min"}), Heard())
    with pytest.raises(FairfrError, match="leave out --embeddings, or --score"):
        score_pairs(wanted(scene, score="left"), Heard())


def test_two_columns_of_one_name_are_refused(scene: Any) -> None:
    (scene / "new.csv").write_text("left,right,a,a\nx,y,1,2\n")
    with pytest.raises(DataError, match="2 columns called 'a'"):
        score_pairs(wanted(scene), Heard())
